// Block layouts are those of ggml-common.h (block_q4_0 ... block_q6_K), values those of
// dequantize_row_* in ggml-quants.c. Each loop over a block's items is simple enough for the
// compiler to vectorise; products are rounded before they are added, as ggml's are (no fma).
#include "gyre/tensor/dequantize.h"

#include <bit>
#include <cstring>

namespace gyre::tensor {
namespace {

uint8_t byte_at(const std::byte* at) {
  return std::to_integer<uint8_t>(*at);
}

// IEEE binary16 -> binary32, exact.
float half_at(const std::byte* at) {
  uint16_t half = 0;
  std::memcpy(&half, at, sizeof(half));
  const uint32_t sign = (half & 0x8000U) << 16U;
  const uint32_t exponent = (half >> 10U) & 31U, fraction = half & 1023U;
  if (exponent == 0) {  // zero and subnormals: fraction * 2^-24
    return (sign != 0 ? -1.0F : 1.0F) * static_cast<float>(fraction) * 0x1p-24F;
  }
  const uint32_t wide = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | wide << 23U | fraction << 13U);
}

// 32 items: scale d, 32 signed bytes. value = q d
void q8_0(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 32, row += 34, out += 32) {
    const float d = half_at(row);
    const auto* q = reinterpret_cast<const int8_t*>(row + 2);
    for (int j = 0; j < 32; ++j) {
      out[j] = static_cast<float>(q[j]) * d;
    }
  }
}

// 32 items in 16 bytes: low halves are items 0-15, high halves 16-31. value = (q - 8) d
void q4_0(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 32, row += 18, out += 32) {
    const float d = half_at(row);
    for (int j = 0; j < 16; ++j) {
      const int q = byte_at(row + 2 + j);
      out[j] = static_cast<float>((q & 15) - 8) * d;
      out[j + 16] = static_cast<float>((q >> 4) - 8) * d;
    }
  }
}

// As Q4_0 with a minimum: value = q d + m
void q4_1(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 32, row += 20, out += 32) {
    const float d = half_at(row), m = half_at(row + 2);
    for (int j = 0; j < 16; ++j) {
      const int q = byte_at(row + 4 + j);
      const float low = static_cast<float>(q & 15) * d, high = static_cast<float>(q >> 4) * d;
      out[j] = low + m;
      out[j + 16] = high + m;
    }
  }
}

// As Q4_0, the fifth bits of all items in 32 bits before the halves. value = (q - 16) d
void q5_0(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 32, row += 22, out += 32) {
    const float d = half_at(row);
    uint32_t fifth = 0;
    std::memcpy(&fifth, row + 2, sizeof(fifth));
    for (unsigned j = 0; j < 16; ++j) {
      const uint32_t q = byte_at(row + 6 + j);
      const auto low = static_cast<int>((q & 15U) | (fifth >> j & 1U) << 4U);
      const auto high = static_cast<int>(q >> 4U | (fifth >> (j + 16U) & 1U) << 4U);
      out[j] = static_cast<float>(low - 16) * d;
      out[j + 16] = static_cast<float>(high - 16) * d;
    }
  }
}

// value = q d + m
void q5_1(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 32, row += 24, out += 32) {
    const float d = half_at(row), m = half_at(row + 2);
    uint32_t fifth = 0;
    std::memcpy(&fifth, row + 4, sizeof(fifth));
    for (unsigned j = 0; j < 16; ++j) {
      const uint32_t q = byte_at(row + 8 + j);
      const auto low = static_cast<float>((q & 15U) | (fifth >> j & 1U) << 4U) * d;
      const auto high = static_cast<float>(q >> 4U | (fifth >> (j + 16U) & 1U) << 4U) * d;
      out[j] = low + m;
      out[j + 16] = high + m;
    }
  }
}

// The eight 6-bit scales and minima of a K block, packed in 12 bytes:
//   bytes 0-3   scales 0-3 in the low six bits, upper two bits of scales 4-7 above them
//   bytes 4-7   the same for minima
//   bytes 8-11  lower four bits of scales 4-7, of minima 4-7 above them
struct ScaleMin {
  int scale, min;
};
ScaleMin scale_min(const std::byte* packed, int s) {
  const int a = byte_at(packed + s % 4), b = byte_at(packed + 4 + s % 4);
  if (s < 4) {
    return {a & 63, b & 63};
  }
  const int c = byte_at(packed + 8 + s % 4);
  return {(c & 15) | (a >> 6) << 4, (c >> 4) | (b >> 6) << 4};
}

// 256 items as 8 runs of 32, each with its scale and minimum; runs 2k and 2k + 1 are the low and
// high halves of the same 32 bytes. value = q (d scale) - dmin min
void q4_k(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 256, row += 144) {
    const float d = half_at(row), dmin = half_at(row + 2);
    for (int s = 0; s < 8; ++s, out += 32) {
      const ScaleMin run = scale_min(row + 4, s);
      const float scale = d * static_cast<float>(run.scale), m = dmin * static_cast<float>(run.min);
      const std::byte* q = row + 16 + s / 2 * 32;
      const int shift = s % 2 * 4;
      for (int j = 0; j < 32; ++j) {
        const float product = static_cast<float>(byte_at(q + j) >> shift & 15) * scale;
        out[j] = product - m;
      }
    }
  }
}

// As Q4_K; bit s of byte j of `fifth` is the fifth bit of item j of run s.
void q5_k(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 256, row += 176) {
    const float d = half_at(row), dmin = half_at(row + 2);
    const std::byte* fifth = row + 16;
    for (int s = 0; s < 8; ++s, out += 32) {
      const ScaleMin run = scale_min(row + 4, s);
      const float scale = d * static_cast<float>(run.scale), m = dmin * static_cast<float>(run.min);
      const std::byte* q = row + 48 + s / 2 * 32;
      const int shift = s % 2 * 4;
      for (int j = 0; j < 32; ++j) {
        const int value = (byte_at(q + j) >> shift & 15) | (byte_at(fifth + j) >> s & 1) << 4;
        const float product = static_cast<float>(value) * scale;
        out[j] = product - m;
      }
    }
  }
}

// 256 items as two halves of 128; in each, run s of 32 (s = 0..3) takes its lower four bits from
// byte 32 (s % 2) + j, the low or high half by s / 2, and its upper two from bits 2s of byte j of
// `upper`. A signed scale per 16 items. value = (q - 32) (d scale)
void q6_k(const std::byte* row, int64_t n, float* out) {
  for (int64_t i = 0; i < n; i += 256, row += 210) {
    const auto* scales = reinterpret_cast<const int8_t*>(row + 192);
    const float d = half_at(row + 208);
    for (int run = 0; run < 8; ++run, out += 32) {
      const int half = run / 4, s = run % 4;
      const std::byte* lower = row + half * 64 + s % 2 * 32;
      const std::byte* upper = row + 128 + half * 32;
      const int shift = s / 2 * 4;
      for (int part = 0; part < 2; ++part) {
        const float scale = d * static_cast<float>(scales[run * 2 + part]);
        for (int j = part * 16; j < part * 16 + 16; ++j) {
          const int value = (byte_at(lower + j) >> shift & 15) | (byte_at(upper + j) >> (2 * s) & 3)
                                                                     << 4;
          out[j] = static_cast<float>(value - 32) * scale;
        }
      }
    }
  }
}

}  // namespace

DequantizeRow find_dequantize(uint32_t type) {
  struct Entry {
    uint32_t type;
    DequantizeRow row;
  };
  static constexpr Entry kEntries[] = {{2, q4_0}, {3, q4_1},  {6, q5_0},  {7, q5_1},
                                       {8, q8_0}, {12, q4_k}, {13, q5_k}, {14, q6_k}};
  for (const Entry& each : kEntries) {
    if (each.type == type) {
      return each.row;
    }
  }
  return nullptr;
}

}  // namespace gyre::tensor
