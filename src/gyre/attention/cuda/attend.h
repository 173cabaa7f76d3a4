// Attention on CUDA tensors: what attention::attention(), rotate(), make_rotation() and attend()
// call for them after their checks. bfloat16 goes through torch's flash attention between gyre's
// rotation kernels; float32, float64 and packed sequences through blocks of torch operations.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/attention/cuda/backend.h"
#include "gyre/attention/rotation.h"
#include "gyre/position/plan.h"

namespace gyre::attention::cuda {

/// Rotation and attention in one call; gradients of q, k, v and of rotation.theta.
///
/// q          [B, H, T, D] float64, float32 or bfloat16, unrotated, last dim contiguous
/// k, v       [B, G, S, D], H a multiple of G; S = T when the rotation rotates
/// first_key  [B, T] int64: query t sees no key before this one (packed sequences); undefined = all
/// returns    [B, H, T, D]
/// throws     c10::NotImplementedError when gyre has no CUDA kernels
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const Rotation& rotation, const position::LayerPlan& layer,
                  const at::Tensor& first_key = {});

/// Attention over rotated queries and keys; S >= T, query t has index S - T + t among the keys.
at::Tensor attention(const Backend& backend, const at::Tensor& q, const at::Tensor& k,
                     const at::Tensor& v, const position::LayerPlan& layer,
                     const at::Tensor& first_key = {});

/// Whether attention() takes the vendor's kernel.
bool uses_flash(const Backend& backend, const at::Tensor& q, const position::LayerPlan& layer,
                const at::Tensor& first_key);

}  // namespace gyre::attention::cuda
