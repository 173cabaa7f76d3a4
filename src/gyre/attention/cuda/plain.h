// Attention in torch operations, a block of queries at a time: for types, devices, masks and packed
// sequences that the vendor's kernel does not take. Scores are recomputed in the backward, so
// memory grows with block * S, not T * S.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gyre/position/plan.h"

namespace gyre::attention::cuda {

struct PlainLayer {
  std::vector<double> slopes;  // [H] or empty
  position::MaskSpec mask;
  double scale = 1.0;
  double cap = 0.0;      // of scaled scores, 0 = none
  at::Tensor first_key;  // [B, T] int64: query t sees no key before this one, but itself always;
                         // undefined = all
};

struct PlainOutput {
  at::Tensor out;  // [B, H, T, D], dtype of q
  at::Tensor lse;  // [B, H, T] float32, float64 for float64 inputs
};

struct PlainGradients {
  at::Tensor q, k, v;
};

/// q [B, H, T, D], k and v [B, G, S, D].
PlainOutput plain_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const PlainLayer& layer);
PlainGradients plain_backward(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const PlainOutput& output,
                              const PlainLayer& layer);

}  // namespace gyre::attention::cuda
