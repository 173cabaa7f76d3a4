// Keys and values of the tokens seen so far, one entry per layer, rotated keys.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

namespace gyre::model {

/// Grows by concatenation; used to continue a sequence chunk by chunk (inference only).
class KvCache {
 public:
  explicit KvCache(int64_t n_layers) : keys_(n_layers), values_(n_layers) {}
  /// Number of tokens held; the position of the next token.
  int64_t length() const;
  /// Appends k, v [B, G, T, D] to layer n and returns everything held, [B, G, S, D].
  std::pair<at::Tensor, at::Tensor> append(int64_t n, const at::Tensor& k, const at::Tensor& v);

 private:
  std::vector<at::Tensor> keys_, values_;
};

}  // namespace gyre::model
