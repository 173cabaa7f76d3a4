// RMS and layer norm, alone or with the residual sum before them, as one differentiable call each.
// Statistics are float (double for double models) whatever the compute type.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/model/config.h"

namespace gyre::model {

struct NormLayer {
  at::Tensor weight, bias;  // [C] float32 (float64 for a double model); bias may be undefined
  Norm kind = Norm::Rms;
  double eps = 1e-5;
};

/// Norm over the last dim.
///
/// x        [..., C] float32, bfloat16 or float64; a [B, T, H, D] view of a wider tensor is read
///          where it lies
/// dtype    of the result: that of x, or bfloat16 of a float32 x
/// throws   c10::ValueError on other types, or weights that are not C wide values
at::Tensor apply_norm(const at::Tensor& x, const NormLayer& norm, at::ScalarType dtype);

struct Normed {
  at::Tensor sum;   // x + delta, type of x: the residual stream
  at::Tensor norm;  // norm(sum) in `dtype`
};

/// One pass over the residual stream: x + delta and its norm. delta has type `dtype`; undefined =
/// 0.
Normed add_norm(const at::Tensor& x, const at::Tensor& delta, const NormLayer& norm,
                at::ScalarType dtype);

}  // namespace gyre::model
