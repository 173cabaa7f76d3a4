// Keys and values of the tokens seen so far, one entry per layer, rotated keys.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::model {

/// Grows by concatenation; used to continue a sequence chunk by chunk (inference only).
class KvCache {
 public:
  explicit KvCache(int64_t n_layers) : keys_(n_layers), values_(n_layers) {}
  /// Number of tokens held; the position of the next token.
  int64_t length() const;
  /// Appends k, v [B, G, T, D] to layer n and returns everything held, [B, G, S, D].
  std::pair<at::Tensor, at::Tensor> append(int64_t n, const at::Tensor& k, const at::Tensor& v);
  /// Forgets every token from `length` on, as after a rejected draft. Windows are masks over keys
  /// that are all kept, so the rest is what a fresh run of `length` tokens holds. A copy of the
  /// cache is unaffected: prefixes are shared by copying.
  /// throws c10::ValueError when fewer tokens are held
  void truncate(int64_t length);
  /// Called before keys rotated by these layers are appended.
  /// throws c10::ValueError when the tokens held were rotated by others
  void use_plan(const std::vector<position::LayerPlan>& layers);

 private:
  std::vector<at::Tensor> keys_, values_;
  std::shared_ptr<const std::vector<position::LayerPlan>> plan_;  // of the tokens held
};

}  // namespace gyre::model
