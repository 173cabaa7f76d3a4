// Linear layers of many rows in bfloat16 without gradients, as in a prefill: gyre's own product
// where it is faster than torch's.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

#include "gyre/model/linear.h"

namespace gyre::model {

/// Whether the kernel takes x [..., K]: gradients off, at least 64 rows, K even, bfloat16 on a CPU
/// with products of it in vector registers (tile registers are better left to torch).
bool many_rows(const at::Tensor& x, const LinearLayer& layer);

/// activation(x W^T + b), or without an activation; sums and activation are float, rounded once.
/// Only where many_rows() holds.
at::Tensor linear_of_many_rows(const at::Tensor& x, const LinearLayer& layer,
                               std::optional<Mlp> activation = std::nullopt);

}  // namespace gyre::model
