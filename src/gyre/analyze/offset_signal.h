// A_m[d] of one layer from logit gradients and rotated queries and keys.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/position/plan.h"

namespace gyre::analyze {

/// G-gradients gathered by offset, unrotated: sum over batch, queries and heads of a group.
///
/// gradient  [B, H, T, T] float64, dL/d logit (scale included in the logit)
/// q, k      [B, H, T, D], [B, G, T, D] float64, rotated
/// theta     [G, P] or [1, P] float64
/// scale     factor on q.k in the logit
/// returns   [2, G, P, T] float64: real and imaginary part by kv head, pair and offset
at::Tensor offset_signal(const at::Tensor& gradient, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& theta, const position::PositionPlan& plan, double scale);

}  // namespace gyre::analyze
