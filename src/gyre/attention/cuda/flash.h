// Attention by the vendor's flash kernel, piece by piece, with the linear bias folded into extra
// channels of queries and keys: no bias or mask is ever in memory.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "gyre/attention/cuda/backend.h"
#include "gyre/attention/cuda/pieces.h"

namespace gyre::attention::cuda {

/// Channels per head with those of the bias, rounded up to the multiple of 8 that flash wants.
/// The bias takes at most 8.
int64_t padded_dim(int64_t head_dim, bool biased);
constexpr int64_t kLargestFlashDim = 256;

/// [B, heads, T, D] as [B, T, heads, dim], channels past D zero; x itself when dim is D.
at::Tensor padded(const at::Tensor& x, int64_t dim);

/// [B, T, H, D'] and [B, S, G, D'], D' = padded_dim. The inputs themselves when nothing is added.
struct FlashInput {
  at::Tensor q, k, v;
};

/// q [B, H, T, D], k and v [B, G, S, D] bfloat16; slopes [H] or empty; scale of the scores, > 0
FlashInput flash_input(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const std::vector<double>& slopes, double scale);

/// out [B, T, H, D'], lse [B, H, T] of all pieces together; lse is relative to a bias that is
/// higher by a constant per row.
VendorOutput flash_forward(const Vendor& vendor, const FlashInput& input,
                           const std::vector<Piece>& pieces, double scale);

/// Gradients of the inputs, extra channels included. grad [B, T, H, D'].
FlashInput flash_backward(const Vendor& vendor, const at::Tensor& grad, const FlashInput& input,
                          const VendorOutput& output, const std::vector<Piece>& pieces,
                          double scale);

}  // namespace gyre::attention::cuda
