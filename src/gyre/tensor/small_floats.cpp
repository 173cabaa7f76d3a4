#include "gyre/tensor/small_floats.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace gyre::tensor {
namespace {

static_assert(std::endian::native == std::endian::little);

template <class T>
T read(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

}  // namespace

double half_to_double(uint16_t bits) {
  const int exponent = (bits >> 10U) & 31;
  const double fraction = bits & 1023;
  const double sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
  if (exponent == 31) {
    return fraction == 0 ? sign * INFINITY : NAN;
  }
  return sign *
         (exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25));
}

double bfloat16_to_double(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16U);
}

double decode_f64(const std::byte* item) {
  return read<double>(item);
}
double decode_f32(const std::byte* item) {
  return read<float>(item);
}
double decode_f16(const std::byte* item) {
  return half_to_double(read<uint16_t>(item));
}
double decode_bf16(const std::byte* item) {
  return bfloat16_to_double(read<uint16_t>(item));
}

}  // namespace gyre::tensor
