#include "gyre/model/layers.h"

#include <ATen/ops/gelu.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/silu.h>

namespace gyre::model {

at::Tensor apply_norm(const at::Tensor& x, const NormWeights& weights, Norm kind, double eps,
                      at::ScalarType dtype) {
  const int64_t C = x.size(-1);
  const at::ScalarType wide = x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const at::Tensor in = x.to(wide);
  at::Tensor y;
  if (kind == Norm::Rms) {
    y = at::rms_norm(in, {C}, weights.weight, eps);
  } else {
    y = at::layer_norm(in, {C}, weights.weight, weights.bias, eps);
  }
  return y.to(dtype);
}

at::Tensor apply_activation(const at::Tensor& x, Mlp kind) {
  if (kind == Mlp::Gelu) {
    return at::gelu(x);
  }
  const auto halves = x.chunk(2, -1);
  const at::Tensor gate = kind == Mlp::SwiGlu ? at::silu(halves[0]) : at::gelu(halves[0], "tanh");
  return at::mul(gate, halves[1]);
}

}  // namespace gyre::model
