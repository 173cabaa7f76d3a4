// The MLP's activation as one differentiable call: silu(gate) * up, gelu(gate) * up, or gelu(up).
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/model/config.h"

namespace gyre::model {

/// up       [..., 2F], gate first, or [..., F] for Mlp::Gelu; float32, bfloat16 or float64
/// returns  [..., F], type of up; computed in float (double for double)
/// throws   c10::ValueError on other types or an odd last dim
/// Gated gelu is the tanh form, plain gelu the exact one. Only `up` is kept for the backward.
at::Tensor apply_activation(const at::Tensor& up, Mlp kind);

/// Gradient of `up`, given that of the result.
at::Tensor activation_gradient(const at::Tensor& up, const at::Tensor& dout, Mlp kind);

}  // namespace gyre::model
