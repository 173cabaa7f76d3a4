// Tensors of a checkpoint by their own names, wherever the files keep them: safetensors in one or
// several shards, GGUF in one or several parts. Files are mapped; nothing is read before it is
// asked for.
#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "gyre/tensor/gguf.h"

namespace gyre::model {

struct StoredInfo {
  std::string name;
  std::vector<int64_t> sizes;  // the slowest-varying first
  std::string file;            // for messages
};

class TensorStore {
 public:
  virtual ~TensorStore() = default;
  /// In the order of the files.
  virtual const std::vector<StoredInfo>& tensors() const = 0;
  const StoredInfo* find(const std::string& name) const;  // null when absent
  /// Error(Format) when the tensor's type cannot be read.
  virtual void check_type(const std::string& name) const = 0;
  /// Whether two tensors of one file format hold the same bytes; for a head beside its embedding.
  virtual bool same(const std::string& a, const std::string& b) const = 0;
  /// In `dtype`, float32 or bfloat16; a view of the file, not to be written, where it is stored so.
  virtual at::Tensor load(const std::string& name, at::ScalarType dtype) const = 0;
  /// The same into `out`, contiguous, of as many items.
  virtual void load_into(const std::string& name, at::Tensor out) const = 0;
};

/// The shards of a folder: those that model.safetensors.index.json names, else every *.safetensors.
/// Error(Format) names the file at fault: no weights, a shard that is missing or cut short, a
/// tensor that two shards hold or that the index places where it is not.
std::unique_ptr<TensorStore> open_safetensors(const std::filesystem::path& folder);

/// The parts of one GGUF model, opened already.
std::unique_ptr<TensorStore> gguf_store(
    const std::vector<std::shared_ptr<const tensor::GgufFile>>& parts);

}  // namespace gyre::model
