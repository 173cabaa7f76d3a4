// The safetensors file format: 8 bytes header length (little endian), a JSON header, raw tensors.
// Reading checks every offset before touching data; nothing in a hostile file is trusted.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gyre/base/files.h"

namespace gyre::tensor {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;
using Metadata = std::map<std::string, std::string>;

/// Writes tensors (any device, any stride) in the given order, atomically. Types: float64, float32,
/// float16, bfloat16, int64, int32, uint8, bool. Error(Usage) on another type or a repeated name.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata = {});

/// A checked file. Error(Format) names the path, the tensor and what is wrong with it: header
/// beyond the end, offsets out of bounds, overlapping or leaving gaps, sizes that do not fit shape
/// and type.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// In order of their place in the file.
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return entries_.contains(name); }
  /// A copy of one tensor; Error(Format) when it is missing.
  at::Tensor load(const std::string& name) const;
  const Metadata& metadata() const { return metadata_; }

 private:
  struct Entry {
    at::ScalarType dtype = at::kFloat;
    std::vector<int64_t> sizes;
    uint64_t begin = 0, end = 0;  // bytes, in the whole file
  };
  MappedFile file_;
  std::map<std::string, Entry> entries_;
  Metadata metadata_;

  void read_header();
  void check_layout(uint64_t data_begin) const;
};

}  // namespace gyre::tensor
