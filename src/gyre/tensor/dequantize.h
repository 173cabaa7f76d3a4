// The block formats of ggml as plain numbers. No torch: rows in, rows out.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gyre::tensor {

/// One row of n items (a multiple of the type's block) as float32, by ggml's formula and in its
/// order of operations.
using DequantizeRow = void (*)(const std::byte* row, int64_t n, float* out);

/// Q8_0, Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K; null for every other type id.
DequantizeRow find_dequantize(uint32_t type);

}  // namespace gyre::tensor
