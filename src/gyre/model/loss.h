// Linear layer and cross-entropy in one: logits exist for one chunk of rows at a time, in the
// compute type, and become their own gradient in place.
#pragma once

#include <ATen/core/Tensor.h>

namespace gyre::model {

/// Negative log-likelihood of targets under softmax(x head^T), in nats.
///
/// x        [M, C] compute type: float32, bfloat16 or float64
/// head     [V, C] master type: float32, or float64 for a double model
/// targets  [M] int64 in [0, V)
/// returns  [M] master type; differentiable, with the logits computed again in the backward
/// throws   c10::ValueError on shapes or targets that do not fit
at::Tensor linear_nll(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets);

/// sum_m weights[m] * nll[m], a scalar. Knowing the weights before, it computes the gradients of x
/// and head chunk by chunk while the logits are there: nothing is computed twice.
/// weights  [M] master type, without gradient
at::Tensor linear_loss(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets,
                       const at::Tensor& weights);

}  // namespace gyre::model
