// Causal attention with a linear position bias and sparse masks, differentiable.
// Blocks of queries visit only the keys that their mask reaches: a window costs O(T w), not O(T^2).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gyre/position/plan.h"

namespace gyre::attention {

/// softmax(scale * q.k - slope_h (i - j), over visible j) v
///
/// q        [B, H, T, D] float64, float32 or bfloat16, already rotated
/// k, v     [B, G, S, D], H a multiple of G; S >= T: query t has index S - T + t among the keys
///          (continuation from a cache)
/// layer    slopes, mask and logit_scale; its frequencies are not used here
/// returns  [B, H, T, D], dtype of q
/// throws   c10::ValueError on mismatched shapes, dtypes or slopes
/// The scale is layer.logit_scale / sqrt(D); the bias is not scaled (Press et al. 2022, sec. 3,
/// arXiv:2108.12409).
at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const position::LayerPlan& layer);

}  // namespace gyre::attention
