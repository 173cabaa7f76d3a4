// Attention weights of one row, made from captured queries and keys block of queries by block, so
// that memory stays bounded whatever the number of heads and tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "gyre/attention/rotation.h"
#include "gyre/position/plan.h"

namespace gyre::analyze {

/// Queries first .. first + n of every head.
struct QueryBlock {
  int64_t first = 0;
  at::Tensor logits;   // [H, n, T] float32, scaled and capped, before bias and mask
  at::Tensor weights;  // [H, n, T] float32, 0 where the mask hides a key
};

/// At most this many bytes of logits at once.
inline constexpr int64_t kBlockBytes = 32 << 20;
/// But at least this many queries, or all of a shorter row: what a drawn pattern shows.
inline constexpr int64_t kPatternTokens = 64;

/// q [H, T, D], k [G, T, D] float32, rotated already.
/// source  softmax(cap(scale q.k) - slope (i - j)) as in attention/attention.h
void each_query_block(const at::Tensor& q_HTD, const at::Tensor& k_GTD,
                      const position::LayerPlan& layer, const at::Tensor& visible_TT,
                      const std::function<void(const QueryBlock&)>& see);

/// [T, T] bool: row = query, column = key.
at::Tensor visible_keys(const position::MaskSpec& mask, int64_t length);

/// The factor on q.k.
double logit_scale(const position::LayerPlan& layer, int64_t head_dim);

}  // namespace gyre::analyze
