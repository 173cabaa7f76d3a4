// The safetensors file format: 8 bytes header length (little endian), a JSON header, raw tensors.
// The file is memory-mapped: opening it reads the header alone, see safetensors_header.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gyre/base/files.h"
#include "gyre/tensor/safetensors_header.h"

namespace gyre::tensor {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Writes tensors (any device, any stride) in the given order, atomically. Types: float64, float32,
/// float16, bfloat16, int64, int32, uint8, bool. Error(Usage) on another type or a repeated name.
void write_safetensors(const std::filesystem::path& path, const NamedTensors& tensors,
                       const Metadata& metadata = {});

/// A file whose header passed the checks of SafetensorsHeader.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::filesystem::path& path);
  /// In order of their place in the file.
  std::vector<std::string> names() const;
  bool contains(const std::string& name) const { return header_.find(name) != nullptr; }
  /// A copy of one tensor; Error(Format) when it is missing or of a type that torch tensors here do
  /// not have (F8_E4M3, U16, ...; header() lists those too).
  at::Tensor load(const std::string& name) const;
  /// The tensor where it lies in the mapped file, which it keeps mapped and which must not be
  /// written; a copy when it lies askew. Faults as load().
  at::Tensor view(const std::string& name) const;
  /// The tensor was copied: its part of the file need not stay in memory.
  void let_go(const std::string& name) const;
  const SafetensorsHeader& header() const { return header_; }
  const std::filesystem::path& path() const { return file_->path(); }
  const Metadata& metadata() const { return header_.metadata(); }

 private:
  std::shared_ptr<const MappedFile> file_;
  SafetensorsHeader header_;
};

}  // namespace gyre::tensor
