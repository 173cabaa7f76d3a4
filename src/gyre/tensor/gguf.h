// The GGUF header (versions 2 and 3): metadata and tensor list, without reading weights. The file
// is memory-mapped; nothing in it is trusted and no allocation exceeds its size.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/files.h"

namespace gyre::tensor {

enum class GgufType : uint32_t {
  U8,
  I8,
  U16,
  I16,
  U32,
  I32,
  F32,
  Bool,
  String,
  Array,
  U64,
  I64,
  F64
};

/// One metadata value. Arrays of texts (vocabularies) keep their count only, short numeric arrays
/// keep their numbers (those of one file together at most a million), texts of more than 64 KiB
/// keep their length in `count` only; GgufFile::texts and numbers read whole arrays from the file.
struct GgufValue {
  GgufType type = GgufType::U32;
  double number = 0.0;            // integers, reals and Bool
  std::string text;               // String
  GgufType item = GgufType::U32;  // Array
  uint64_t count = 0;             // items of an Array, bytes of a String
  std::vector<double> numbers;    // Array of numbers with at most 65536 items
  uint64_t begin = 0;             // Array: byte of the file at which its first item lies
};

struct GgufTensor {
  std::string name;
  std::vector<uint64_t> dims;  // as stored: the fastest-varying first
  uint32_t type = 0;           // ggml type id
  uint64_t offset = 0;         // from the start of the data part
  uint64_t n_bytes = 0;
};

/// "F32", "Q4_K", ...; "type 99" for an id this version does not know.
std::string ggml_type_name(uint32_t type);

class GgufFile {
 public:
  /// Error(Format) names path, place and what is wrong: magic, version, counts that cannot fit the
  /// file, repeated keys, strings or arrays beyond the end, tensors out of range or overlapping.
  explicit GgufFile(const std::filesystem::path& path);
  /// The same over bytes in memory (fuzzing, tests); `owner` names them, they must outlive this.
  GgufFile(std::span<const std::byte> bytes, std::string owner);

  uint32_t version() const { return version_; }
  const std::map<std::string, GgufValue>& metadata() const { return metadata_; }
  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  const GgufTensor* find(std::string_view name) const;  // null when absent
  /// Values of an F32, F16, BF16 or F64 tensor; Error(Format) for other types and sizes over 1e6.
  std::vector<double> load_small(const GgufTensor& tensor) const;
  /// Metadata number; `fallback` when absent; Error(Format) when it is no number.
  double number(const std::string& key, double fallback) const;
  std::string text(const std::string& key, const std::string& fallback) const;
  /// Every item of an array, of any length; empty when the key is absent. The texts are bytes as
  /// stored: pieces of a vocabulary need not be UTF-8. Error(Format) when it is no such array.
  std::vector<std::string> texts(const std::string& key) const;
  std::vector<double> numbers(const std::string& key) const;
  /// The stored bytes of one tensor, n_bytes of them; borrowed from the file.
  std::span<const std::byte> data(const GgufTensor& tensor) const {
    return bytes_.subspan(data_begin_ + tensor.offset, tensor.n_bytes);
  }
  /// The tensor was copied: its part of the file need not stay in memory.
  void let_go(const GgufTensor& tensor) const;
  const std::string& owner() const { return owner_; }

 private:
  std::vector<MappedFile> mapped_;  // none or one
  std::span<const std::byte> bytes_;
  std::string owner_;
  uint32_t version_ = 0;
  uint64_t data_begin_ = 0;
  std::map<std::string, GgufValue> metadata_;
  std::vector<GgufTensor> tensors_;

  void read();
  void check_layout(uint64_t header_end, uint64_t alignment);
};

}  // namespace gyre::tensor
