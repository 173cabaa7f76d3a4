// y = x w^T in bfloat16 for many rows of x, without gradients: a prefill.
// Tricks: w is read as it lies, since a pair of its channels is the operand that is the same in all
// lanes, and lanes are tokens: only x, the smaller of the two, is packed, once for all of w (as
// fast as torch's product at one thread, without its copy of w; faster at two). A bias and the
// MLP's activation are applied to the float sums in the cache, so that gate and up are never
// written (4 % of a prefill). 24 accumulators stay in registers to the end (2 %).
#include "gyre/base/simd.h"
#include "gyre/model/cpu/curves_isa.h"
#include "gyre/model/cpu/many_rows.h"

namespace gyre::GYRE_ISA {

using model::cpu::After;
using model::cpu::ManyRows;
using model::cpu::ManyRowsTable;

#if defined(__AVX512BF16__)
namespace {

constexpr int64_t kTokens = model::cpu::kTokens, kOutputs = model::cpu::kOutputs;
constexpr int64_t kStep = 6;  // rows of w in a register tile

int64_t at_most(int64_t x, int64_t bound) {
  return x < bound ? x : bound;
}

/// Lanes [0, n).
__mmask16 first_lanes(int64_t n) {
  return static_cast<__mmask16>((1U << at_most(n, 16)) - 1U);
}

/// 16 x 16 values of 4 bytes, rows to columns.
GYRE_INLINE void transpose(__m512i (&r)[16]) {
  __m512i t[16];
  for (int i = 0; i < 16; i += 2) {
    t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
    t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
  }
  for (int i = 0; i < 16; i += 4) {
    r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
    r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
    r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
    r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    for (int half = 0; half < 16; half += 8) {
      t[i + half] = _mm512_shuffle_i32x4(r[i + half], r[i + half + 4], 0x88);
      t[i + half + 4] = _mm512_shuffle_i32x4(r[i + half], r[i + half + 4], 0xDD);
    }
  }
  for (int i = 0; i < 4; ++i) {
    r[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
    r[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
    r[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
    r[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xDD);
  }
}

/// 16 tokens, of which n exist; the others are 0.
void pack_vector(const uint16_t* x, int64_t n, int64_t K, uint32_t* out) {
  for (int64_t k = 0; k < K / 2; k += 16) {
    const __mmask16 lanes = first_lanes(K / 2 - k);
    __m512i rows[16];
    for (int64_t m = 0; m < 16; ++m) {
      rows[m] = m < n ? _mm512_maskz_loadu_epi32(lanes, x + m * K + 2 * k) : _mm512_setzero_si512();
    }
    transpose(rows);
    for (int64_t i = 0; i < at_most(16, K / 2 - k); ++i) {
      _mm512_storeu_si512(out + (k + i) * kTokens, rows[i]);
    }
  }
}

void pack(const ManyRows& p, int64_t begin, int64_t end) {
  for (int64_t tile = begin; tile < end; ++tile) {
    for (int64_t m = 0; m < kTokens && tile * kTokens + m < p.M; m += 16) {
      const int64_t first = tile * kTokens + m;
      pack_vector(p.x + first * p.K, p.M - first, p.K, p.packed_x + tile * (p.K / 2) * kTokens + m);
    }
  }
}

/// Sums of 6 rows of w from `row` on (past `n_rows` the last one again) with 16 n_vectors tokens.
template <int n_vectors>
__attribute__((noinline)) void multiply(const uint16_t* w, int64_t row, int64_t n_rows, int64_t K,
                                        const uint32_t* x, float* out) {
  const uint16_t* rows[kStep];
  for (int64_t i = 0; i < kStep; ++i) {
    rows[i] = w + at_most(row + i, n_rows - 1) * K;
  }
  __m512 sums[kStep][n_vectors];
#pragma GCC unroll 6
  for (int64_t i = 0; i < kStep; ++i) {
    for (int v = 0; v < n_vectors; ++v) {
      sums[i][v] = _mm512_setzero_ps();
    }
  }
  for (int64_t k = 0; k < K; k += 2, x += kTokens) {
    __m512bh tokens[n_vectors];
    for (int v = 0; v < n_vectors; ++v) {
      tokens[v] = (__m512bh)_mm512_loadu_si512(x + 16 * v);
    }
    for (int64_t i = 0; i < kStep; ++i) {
      int32_t pair;
      __builtin_memcpy(&pair, rows[i] + k, sizeof pair);
      const auto both = (__m512bh)_mm512_set1_epi32(pair);
      for (int v = 0; v < n_vectors; ++v) {
        sums[i][v] = _mm512_dpbf16_ps(sums[i][v], both, tokens[v]);
      }
    }
  }
#pragma GCC unroll 6  // else the sums take a detour through the stack
  for (int64_t i = 0; i < kStep; ++i) {
    for (int v = 0; v < n_vectors; ++v) {
      _mm512_storeu_ps(out + i * kTokens + 16 * v, sums[i][v]);
    }
  }
}

using Multiply = void (*)(const uint16_t*, int64_t, int64_t, int64_t, const uint32_t*, float*);
constexpr Multiply kMultiply[] = {multiply<1>, multiply<2>, multiply<3>, multiply<4>};

/// Outputs [row, row + n) of one tile, and their bias.
GYRE_INLINE void product(const ManyRows& p, int64_t tile, int64_t row, int64_t n, int64_t n_rows,
                         float* sums) {
  const int64_t n_vectors = (at_most(kTokens, p.M - tile * kTokens) + 15) / 16;
  for (int64_t i = 0; i < n; i += kStep) {
    kMultiply[n_vectors - 1](p.w, row + i, n_rows, p.K, p.packed_x + tile * (p.K / 2) * kTokens,
                             sums + i * kTokens);
  }
  for (int64_t i = 0; p.bias != nullptr && i < n * kTokens; i += kLanes) {
    store(sums + i, load(sums + i) + p.bias[row + i / kTokens]);
  }
}

/// sums *= s(sums), and times `up` unless that is null.
template <class Curve>
void activate(float* sums, const float* up, int64_t n) {
  for (int64_t i = 0; i < n * kTokens; i += kLanes) {
    const Floats x = load(sums + i);
    const Floats y = x * Curve::template step<float>(x).value;
    store(sums + i, up == nullptr ? y : y * load(up + i));
  }
}

/// 32 outputs of 16 tokens, or what exists of them, as rows of y.
GYRE_INLINE void write(const float* sums, uint16_t* y, int64_t N, int64_t n_tokens, int64_t n) {
  __m512i low[16], high[16];
  for (int i = 0; i < 16; ++i) {
    low[i] = _mm512_loadu_si512(sums + i * kTokens);
    high[i] = _mm512_loadu_si512(sums + (16 + i) * kTokens);
  }
  transpose(low);
  transpose(high);
  const auto lanes = n >= 32 ? ~__mmask32{0} : (__mmask32{1} << n) - 1U;
  for (int64_t m = 0; m < at_most(16, n_tokens); ++m) {
    const __m512bh row = _mm512_cvtne2ps_pbh((__m512)high[m], (__m512)low[m]);
    _mm512_mask_storeu_epi16(y + m * N, lanes, (__m512i)row);
  }
}

void pieces(const ManyRows& p, int64_t begin, int64_t end) {
  const int64_t width = p.width, n_blocks = (p.N + width - 1) / width;
  const bool gated = p.after == After::SiluGate || p.after == After::GeluTanhGate;
  const int64_t n_rows = gated ? 2 * p.N : p.N;
  // Register tiles and writing go past the outputs there are, never past this.
  alignas(64) float sums[kOutputs * kTokens] = {};
  for (int64_t i = begin; i < end; ++i) {
    const int64_t tile = i / n_blocks, first = i % n_blocks * width;
    const int64_t n = at_most(width, p.N - first), n_tokens = p.M - tile * kTokens;
    float* up = sums + width * kTokens;
    product(p, tile, first, n, n_rows, sums);
    if (gated) {
      product(p, tile, p.N + first, n, n_rows, up);
    }
    if (p.after == After::SiluGate) {
      activate<Silu>(sums, up, n);
    } else if (p.after == After::GeluTanhGate) {
      activate<GeluTanh>(sums, up, n);
    } else if (p.after == After::Gelu) {
      activate<Gelu>(sums, nullptr, n);
    }
    for (int64_t m = 0; m < at_most(kTokens, n_tokens); m += 16) {
      for (int64_t c = 0; c < n; c += 32) {
        write(sums + c * kTokens + m, p.y + (tile * kTokens + m) * p.N + first + c, p.N,
              n_tokens - m, n - c);
      }
    }
  }
}

}  // namespace
#endif

const ManyRowsTable& many_rows_kernels() {
#if defined(__AVX512BF16__)
  static constexpr ManyRowsTable kTable = {pack, pieces};
#else
  static constexpr ManyRowsTable kTable = {nullptr, nullptr};
#endif
  return kTable;
}

}  // namespace gyre::GYRE_ISA
