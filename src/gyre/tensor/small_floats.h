// 16-bit floating types to double, exact; for the few numbers that header readers take out of files
// without torch.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gyre::tensor {

double half_to_double(uint16_t bits);  // IEEE binary16
double bfloat16_to_double(uint16_t bits);

/// Reads one little-endian item; the address need not be aligned.
double decode_f64(const std::byte* item);
double decode_f32(const std::byte* item);
double decode_f16(const std::byte* item);
double decode_bf16(const std::byte* item);

}  // namespace gyre::tensor
