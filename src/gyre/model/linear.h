// Linear layers over master weights: cast once per call, gradient straight into the master's type.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/model/config.h"

namespace gyre::model {

/// A matrix and its bias, in the master type: float32, or float64 for a double model.
struct LinearLayer {
  at::Tensor weight;  // [N, K]
  at::Tensor bias;    // [N] or undefined
};

/// x W^T + b in the type of x.
///
/// x        [..., K] float32, bfloat16 or float64
/// returns  [..., N]; the gradients of weight and bias have the master type and are summed in it
/// throws   c10::ValueError when K differs
at::Tensor linear(const at::Tensor& x, const LinearLayer& layer);

/// linear(activation(up)): keeps `up` alone and recomputes the activation in the backward.
at::Tensor activated_linear(const at::Tensor& up, Mlp kind, const LinearLayer& layer);

/// activated_linear(linear(x, up)): a whole MLP. Without gradients gate and up need not be written.
at::Tensor mlp(const at::Tensor& x, const LinearLayer& up, Mlp kind, const LinearLayer& down);

/// dW += dy^T x, or dW = dy^T x when fresh. dy [M, N] and x [M, K] of one type, contiguous in the
/// last dim; dw [N, K] contiguous, in the master type.
void add_weight_gradient_(at::Tensor& dw, const at::Tensor& dy, const at::Tensor& x, bool fresh);

}  // namespace gyre::model
