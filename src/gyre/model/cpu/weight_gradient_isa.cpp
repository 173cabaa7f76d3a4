// dW = dy^T x in bfloat16 with float sums, straight into the float gradient.
// Tricks: rows of dy and x are paired as vdpbf16ps wants them, so nothing is transposed; x is
// packed once for all tiles, dy piece by piece in the second-level cache; 24 accumulators in
// registers. Against a bfloat16 product and a cast: 5 % faster, and sums over chunks need no pass
// of their own.
#include "gyre/base/simd.h"
#include "gyre/model/cpu/weight_gradient.h"

namespace gyre::GYRE_ISA {

using model::cpu::WeightGradient;
using model::cpu::WeightGradientTable;

#if defined(__AVX512BF16__)
namespace {

constexpr int64_t kRows = model::cpu::kGradientRows, kColumns = model::cpu::kGradientColumns;
constexpr int64_t kTiles = model::cpu::kGradientTiles, kDepth = model::cpu::kGradientDepth;
constexpr int64_t kStride = kRows * kTiles;  // pairs per packed row pair of dy

/// Two rows as pairs; values past the matrix are 0.
GYRE_INLINE void pack_pair(const uint16_t* even, const uint16_t* odd, int64_t n, int64_t width,
                           uint32_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = even[i] | (odd == nullptr ? 0U : static_cast<uint32_t>(odd[i]) << 16);
  }
  for (int64_t i = n; i < width; ++i) {
    out[i] = 0;
  }
}

void pack(const WeightGradient& p, int64_t begin, int64_t end) {
  const int64_t n_pairs = (p.M + 1) / 2;
  for (int64_t panel = begin; panel < end; ++panel) {
    const int64_t k = panel * kColumns, n = p.K - k < kColumns ? p.K - k : kColumns;
    for (int64_t m = 0; m < n_pairs; ++m) {
      const uint16_t* even = p.x + 2 * m * p.K + k;
      const uint16_t* odd = 2 * m + 1 < p.M ? even + p.K : nullptr;
      pack_pair(even, odd, n, kColumns, p.packed_x + (panel * n_pairs + m) * kColumns);
    }
  }
}

struct Tile {
  float* out;
  int64_t stride, rows, columns;
  bool fresh;
};

/// A tile at the edge of dW goes through a whole one.
GYRE_INLINE void copy_tile(float* to, int64_t to_stride, const float* from, int64_t from_stride,
                           const Tile& tile) {
  for (int64_t i = 0; i < tile.rows; ++i) {
    __builtin_memcpy(to + i * to_stride, from + i * from_stride,
                     static_cast<uint64_t>(tile.columns) * sizeof(float));
  }
}

__attribute__((noinline)) void multiply(const uint32_t* a, const uint32_t* b, int64_t n_pairs,
                                        const Tile& tile) {
  const bool whole = tile.rows == kRows && tile.columns == kColumns;
  float edge[kRows * kColumns] = {};
  float* out = whole ? tile.out : edge;
  const int64_t stride = whole ? tile.stride : kColumns;
  if (!whole && !tile.fresh) {
    copy_tile(edge, kColumns, tile.out, tile.stride, tile);
  }
  __m512 sums[kRows][2];
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t v = 0; v < 2; ++v) {
      sums[i][v] = tile.fresh ? _mm512_setzero_ps() : _mm512_loadu_ps(out + i * stride + 16 * v);
    }
  }
  for (int64_t m = 0; m < n_pairs; ++m) {
    const auto b0 = (__m512bh)_mm512_loadu_si512(b + m * kColumns);
    const auto b1 = (__m512bh)_mm512_loadu_si512(b + m * kColumns + 16);
    for (int64_t i = 0; i < kRows; ++i) {
      const auto pair = (__m512bh)_mm512_set1_epi32(static_cast<int>(a[m * kStride + i]));
      sums[i][0] = _mm512_dpbf16_ps(sums[i][0], pair, b0);
      sums[i][1] = _mm512_dpbf16_ps(sums[i][1], pair, b1);
    }
  }
  for (int64_t i = 0; i < kRows; ++i) {
    _mm512_storeu_ps(out + i * stride, sums[i][0]);
    _mm512_storeu_ps(out + i * stride + 16, sums[i][1]);
  }
  if (!whole) {
    copy_tile(tile.out, tile.stride, edge, kColumns, tile);
  }
}

/// The pairs of rows [m, m + depth) of dy, columns [n, n + width).
void pack_dy(const WeightGradient& p, int64_t m, int64_t depth, int64_t n, int64_t width,
             uint32_t* out) {
  for (int64_t i = 0; i < depth; i += 2) {
    const uint16_t* even = p.dy + (m + i) * p.N + n;
    pack_pair(even, i + 1 < depth ? even + p.N : nullptr, width, kStride, out + i / 2 * kStride);
  }
}

int64_t at_most(int64_t x, int64_t bound) {
  return x < bound ? x : bound;
}

void tiles(const WeightGradient& p, uint32_t* scratch, int64_t begin, int64_t end) {
  const int64_t x_pairs = (p.M + 1) / 2, n_end = at_most(end * kRows, p.N);
  for (int64_t n0 = begin * kRows; n0 < n_end; n0 += kStride) {
    const int64_t width = at_most(kStride, n_end - n0);
    for (int64_t m = 0; m < p.M; m += kDepth) {
      const int64_t depth = at_most(kDepth, p.M - m);
      pack_dy(p, m, depth, n0, width, scratch);
      for (int64_t k = 0; k < p.K; k += kColumns) {
        const uint32_t* b = p.packed_x + (k / kColumns * x_pairs + m / 2) * kColumns;
        for (int64_t n = 0; n < width; n += kRows) {
          multiply(scratch + n, b, (depth + 1) / 2,
                   {p.dw + (n0 + n) * p.K + k, p.K, at_most(kRows, width - n),
                    at_most(kColumns, p.K - k), p.fresh && m == 0});
        }
      }
    }
  }
}

}  // namespace
#endif

const WeightGradientTable& weight_gradient_kernels() {
#if defined(__AVX512BF16__)
  static constexpr WeightGradientTable kTable = {pack, tiles};
#else
  static constexpr WeightGradientTable kTable = {nullptr, nullptr};
#endif
  return kTable;
}

}  // namespace gyre::GYRE_ISA
