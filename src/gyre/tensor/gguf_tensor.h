// Tensors out of a GGUF file. Apart from gguf.h because that is used without libtorch.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "gyre/tensor/gguf.h"

namespace gyre::tensor {

/// Sizes in torch's order, the slowest-varying first: `dims` reversed.
std::vector<int64_t> sizes_of(const GgufTensor& tensor);

/// Error(Format) names file, tensor, type and what to do unless gguf_tensor() can read it: F32,
/// F16, BF16, F64, Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K.
void check_readable(const GgufFile& file, const GgufTensor& tensor);

/// One tensor in `dtype` (float32 or bfloat16); quantised rows are computed in float32 by ggml's
/// formula, on all threads. A tensor stored in `dtype` is a view of the file, which must not be
/// written and keeps `file` alive.
at::Tensor gguf_tensor(const std::shared_ptr<const GgufFile>& file, const GgufTensor& tensor,
                       at::ScalarType dtype);

/// The same into `out`, contiguous, of sizes_of(tensor) items in float32 or bfloat16.
void gguf_tensor_into(const GgufFile& file, const GgufTensor& tensor, at::Tensor& out);

}  // namespace gyre::tensor
