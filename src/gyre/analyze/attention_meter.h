// Attention of all rows of one layer: scores of roles, bound against logit, patterns.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/analyze/layer_record.h"
#include "gyre/analyze/row_attention.h"
#include "gyre/analyze/rows.h"
#include "gyre/analyze/targets.h"
#include "gyre/attention/rotation.h"

namespace gyre::analyze {

/// Sums over rows, queries and keys, float64.
struct AttentionSums {
  at::Tensor score_RH;                               // [roles, H]
  at::Tensor logit_H, bound_H, product_H, weight_H;  // of text rows
};

/// First queries of the first row of each kind, [H, n, T].
struct FirstBlocks {
  at::Tensor text, repeat, alphabet;
  const at::Tensor& of(Role role) const {
    return role == Role::Induction ? repeat : role == Role::Content ? alphabet : text;
  }
};

class AttentionMeter {
 public:
  /// visible  [T, T] keys that the layer's mask shows
  AttentionMeter(const Subject& subject, const Rows& rows, const Targets& targets, int64_t n,
                 const at::Tensor& visible);
  /// Row b: q [1, H, T, D], k [1, G, T, D] float32 before the rotation.
  void add_row(int64_t b, at::Tensor q, at::Tensor k);
  /// Heads and patterns, once all rows were added.
  void fill(LayerRecord& record) const;

 private:
  void keep_first(int64_t b, const QueryBlock& block);
  void add_scores(int64_t b, const QueryBlock& block);
  void add_bounds(const QueryBlock& block, const at::Tensor& q_lengths,
                  const at::Tensor& k_lengths);

  const position::PositionPlan& plan_;
  const position::LayerPlan& layer_;
  const Rows& rows_;
  const Targets& targets_;
  const at::Tensor& visible_;
  attention::Rotation rotation_;
  AttentionSums sums_;
  FirstBlocks first_;
};

}  // namespace gyre::analyze
