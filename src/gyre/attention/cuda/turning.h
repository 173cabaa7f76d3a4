// Rotation of CUDA tensors by gyre's kernels, differentiable; the twin of attention/rotation.h.
#pragma once

#include <ATen/core/Tensor.h>

#include <utility>

#include "gyre/attention/cuda/backend.h"
#include "gyre/attention/rotation.h"

namespace gyre::attention::cuda {

/// Table of angles, made on the device of theta and positions; arguments as make_rotation() takes
/// and has checked. A layer with decay has its table made on the CPU and copied.
Rotation make_table(const Backend& backend, const at::Tensor& theta, const at::Tensor& positions,
                    position::PairLayout layout, const position::LayerPlan& layer,
                    at::ScalarType dtype, std::optional<int64_t> origin);

/// Arguments as attention::rotate() takes and has checked.
std::pair<at::Tensor, at::Tensor> rotate(const Backend& backend, const at::Tensor& q,
                                         const at::Tensor& k, const Rotation& rotation);

}  // namespace gyre::attention::cuda
