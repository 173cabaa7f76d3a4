// The header of a safetensors file, without torch and without touching the weights: names, types,
// shapes, places. Nothing in it is trusted; what passes the checks can be loaded blindly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::tensor {

using Metadata = std::map<std::string, std::string>;

struct StoredTensor {
  std::string name;
  std::string dtype;  // as the file spells it: "BF16", "F8_E4M3", ...
  std::vector<int64_t> shape;
  uint64_t begin = 0, end = 0;  // bytes, in the whole file
};

class SafetensorsHeader {
 public:
  SafetensorsHeader() = default;
  /// Bytes of the whole file, which must outlive load_small; `owner` names it. Error(Format) says
  /// what is wrong: header beyond the end, no JSON, repeated names, sizes that do not fit shape and
  /// type, tensors outside the file, overlapping or leaving gaps. A type this version does not know
  /// is listed by name; only its place is checked.
  SafetensorsHeader(std::span<const std::byte> file, std::string owner);

  /// In order of their place in the file.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  const StoredTensor* find(std::string_view name) const;  // null when absent
  const Metadata& metadata() const { return metadata_; }
  /// Values of an F64, F32, F16 or BF16 tensor; Error(Format) for other types and over 1e6 items.
  std::vector<double> load_small(const StoredTensor& tensor) const;

 private:
  std::span<const std::byte> file_;
  std::string owner_;
  std::vector<StoredTensor> tensors_;                 // by place
  std::map<std::string, size_t, std::less<>> index_;  // name -> place
  Metadata metadata_;

  void check_sizes(uint64_t data_begin);
  void check_layout(uint64_t data_begin);
};

/// Bits of one item: 8 for "F8_E4M3", 4 for "F4"; 0 for a type this version does not know.
uint64_t safetensors_type_bits(std::string_view dtype);

}  // namespace gyre::tensor
