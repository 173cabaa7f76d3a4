// Fused attention on the CPU: rotation, scores, bias, mask, softmax and values in one pass over
// tiles; memory grows with the length, never with its square.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gyre/position/plan.h"

namespace gyre::attention::cpu {

/// One call. Tensors are as attend() in attention.h checked them; tables may be undefined.
struct Call {
  at::Tensor q, k, v;                     // [B, H, T, D], [B, G, S, D], last dim contiguous
  at::Tensor cos, sin, key_cos, key_sin;  // [1 or G, T or S, P]
  at::Tensor query_gain;                  // [T] float64
  at::Tensor positions;                   // [T] int64, for the frequency gradient
  at::Tensor first_key;                   // [B, T] int64
  bool interleaved = false;
  position::MaskSpec mask;
  std::vector<double> slopes;  // [H] or empty
  double scale = 1.0;
  double cap = 0.0;  // of scaled scores, 0 = none
};

/// Fills out [B, H, T, D] (last dim contiguous) and softmax [2, B, H, T] of the accumulate type:
/// the largest score of each query (in units of log 2) and 1 / sum of exponentials relative to it.
void forward(const Call& call, at::Tensor& out, at::Tensor& softmax);

/// Gradients of q, k and v, filled; their last dims are contiguous.
struct Gradients {
  at::Tensor q, k, v;
  /// [3, B, G, P] float64: sums over a key/value head's tokens of pos (x~ x dx~), (x~ x dx~) and
  /// |x~||dx~|, queries and keys together. Undefined = not wanted.
  at::Tensor cross;
  bool gauge = false;  // whether the last two are wanted
};
void backward(const Call& call, const at::Tensor& out, const at::Tensor& softmax,
              const at::Tensor& grad, Gradients& gradients);

}  // namespace gyre::attention::cpu
