// What a model in process takes, read from its config and headers; no weight is touched.
#include <algorithm>
#include <filesystem>

#include "gyre/accept/plan.h"
#include "gyre/base/files.h"
#include "gyre/inspect/inspect.h"
#include "gyre/tensor/gguf.h"
#include "gyre/tensor/safetensors_header.h"

namespace gyre::accept {
namespace {

namespace fs = std::filesystem;

int64_t parameters_of(const fs::path& file) {
  int64_t total = 0;
  if (file.extension() == ".gguf") {
    const tensor::GgufFile gguf(file);
    for (const tensor::GgufTensor& one : gguf.tensors()) {
      uint64_t n = 1;
      for (const uint64_t dim : one.dims) {
        n *= dim;
      }
      total += static_cast<int64_t>(n);
    }
  } else if (file.extension() == ".safetensors") {
    const MappedFile map(file);
    const tensor::SafetensorsHeader header(map.bytes(), file.string());
    for (const tensor::StoredTensor& one : header.tensors()) {
      int64_t n = 1;
      for (const int64_t dim : one.shape) {
        n *= dim;
      }
      total += n;
    }
  }
  return total;
}

/// Of all weight files of a folder; a run keeps several checkpoints, of which one is counted.
int64_t parameters_in(const fs::path& path) {
  if (!fs::is_directory(path)) {
    return parameters_of(path);
  }
  int64_t total = 0;
  for (const auto& entry : fs::directory_iterator(path)) {
    total += entry.is_regular_file() ? parameters_of(entry.path()) : 0;
  }
  if (total == 0 && fs::is_directory(path / "checkpoints")) {
    for (const auto& entry : fs::directory_iterator(path / "checkpoints")) {
      total = std::max(total, parameters_in(entry.path()));
    }
  }
  return total;
}

}  // namespace

LocalShape local_shape(const fs::path& path, int64_t value_bytes) {
  const inspect::ResolvedModel model = inspect::resolve(path);
  LocalShape out;
  out.value_bytes = value_bytes;
  out.parameters = parameters_in(path);
  for (const inspect::LayerKind& kind : model.kinds) {
    const LocalShape::Layer layer{kind.n_heads, kind.n_kv_heads, kind.head_dim,
                                  kind.plan.mask.window * kind.plan.mask.dilation};
    out.layers.insert(out.layers.end(), kind.layers.size(), layer);
  }
  return out;
}

}  // namespace gyre::accept
