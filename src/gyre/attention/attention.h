// Causal attention with rotary rotation, a linear position bias and sparse masks, differentiable in
// queries, keys, values and frequencies. Tiles that the mask hides are never visited: a window
// costs O(T w), not O(T^2); memory grows with T.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gyre/attention/rotation.h"
#include "gyre/position/plan.h"

namespace gyre::attention {

/// softmax(cap(scale * (R_i q_i).(R_j k_j)) - slope_h (i - j), over visible j) v_j
///
/// q          [B, H, T, D] float64, float32 or bfloat16, before the rotation
/// k, v       [B, G, S, D], H a multiple of G; S >= T: query t has index S - T + t among the keys
///            (continuation from a cache); S == T when the rotation is not the identity
/// rotation   of q and k, table of T rows; Rotation{} = they are rotated already, or never
/// layer      slopes, mask, logit_scale and score_cap; its frequencies are not used here
/// first_key  [B, T] int64 or undefined: query t sees no key before this one. A document of a
/// packed
///            row begins at its first token's index; a padded row begins at its first real one.
///            Values below 0 count as 0, those above the query's own index as that index
/// returns    [B, H, T, D], dtype of q; memory is [B, T, H, D]
/// throws     c10::ValueError on mismatched shapes, dtypes, tables or slopes
/// The scale is layer.logit_scale / sqrt(D); the bias is not scaled (Press et al. 2022, sec. 3,
/// arXiv:2108.12409). Rounding: rotated queries and keys, probabilities and their gradients are
/// rounded to bfloat16 for bfloat16 inputs, sums are float32; float64 inputs are exact work.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const Rotation& rotation, const position::LayerPlan& layer,
                  const at::Tensor& first_key = {});

/// The same on the output of one projection, so that its gradient is one tensor too.
///
/// qkv        [B, T, (H + 2G) D]: H heads of queries, G of keys, G of values
/// returns    [B, T, H D]
at::Tensor attend_packed(const at::Tensor& qkv, int64_t n_heads, int64_t n_kv_heads,
                         const Rotation& rotation, const position::LayerPlan& layer,
                         const at::Tensor& first_key = {});

/// attend() without a rotation.
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const position::LayerPlan& layer);

}  // namespace gyre::attention
