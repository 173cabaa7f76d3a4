// The pieces of a block: norm, linear, gated activation, loss. Each is one differentiable call;
// norms and losses are computed in float (double for double models) whatever the compute type.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/model/config.h"

namespace gyre::model {

/// RMS or layer norm over the last dim of x [..., C], in x's type, result cast to `dtype`.
/// weight [C]; bias [C] or undefined.
struct NormWeights {
  at::Tensor weight, bias;
};
at::Tensor apply_norm(const at::Tensor& x, const NormWeights& weights, Norm kind, double eps,
                      at::ScalarType dtype);

/// Gated or plain activation: [M, 2F] -> [M, F] (gate first) or [M, F] -> [M, F].
at::Tensor apply_activation(const at::Tensor& x, Mlp kind);

/// Negative log-likelihood of targets [M] under softmax(x W^T), [M]. x [M, C] and head [V, C] in
/// the compute type; the result in `dtype`. Large vocabularies are computed in row chunks and their
/// logits recomputed in the backward instead of kept.
at::Tensor linear_nll(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets,
                      at::ScalarType dtype);

}  // namespace gyre::model
