// Products and transposes of tiles, for the *_isa.cpp of this folder.
// Tricks: a block of 4 rows by up to 64 columns stays in registers over the whole sum (16 vectors
// with AVX-512); bfloat16 pairs are multiplied by one instruction; transposes exchange vectors in
// log2(lanes) steps instead of storing single elements; on a causal diagonal the quarter of a tile
// that is hidden takes part in none of the products (1.03 x at T 1024, 1.05 x at T 512).
#pragma once

#include "gyre/attention/cpu/params.h"
#include "gyre/base/simd.h"

#if defined(__AVX512BF16__)
#define GYRE_HAS_BF16_TILES 1
#else
#define GYRE_HAS_BF16_TILES 0
#endif

namespace gyre::attention::cpu::GYRE_ISA {

using namespace gyre::GYRE_ISA;

template <class E>
struct TileOf {
  using Acc = E;
  static constexpr int kPair = 1;
};
template <>
struct TileOf<BFloat> {
  using Acc = float;
  static constexpr int kPair = 2;
};
template <class E>
using Acc = typename TileOf<E>::Acc;

template <class T>
GYRE_INLINE T* at(const void* p, int64_t offset) {
  return static_cast<T*>(const_cast<void*>(p)) + offset;
}

// One step of a product: kPair elements of a row of A times kLanes columns of packed B.
template <class E>
struct Step {
  using Left = Vec<E>;
  using Right = Vec<E>;
  static GYRE_INLINE Right right(const E* b) { return load(b); }
  static GYRE_INLINE Left left(const E* a) { return splat(*a); }
  static GYRE_INLINE Vec<E> add(Vec<E> c, Left a, Right b) { return c + a * b; }
};
#if GYRE_HAS_BF16_TILES
template <>
struct Step<BFloat> {
  using Left = __m512bh;
  using Right = __m512bh;
  static GYRE_INLINE Right right(const BFloat* b) { return (__m512bh)_mm512_loadu_si512(b); }
  static GYRE_INLINE Left left(const BFloat* a) {
    int32_t pair;
    __builtin_memcpy(&pair, a, sizeof pair);
    return (__m512bh)_mm512_set1_epi32(pair);
  }
  static GYRE_INLINE Floats add(Floats c, Left a, Right b) {
    return (Floats)_mm512_dpbf16_ps((__m512)c, a, b);
  }
};
#endif

// C [MR, NR * kLanes] (+)= A [MR, K] B packed.
template <int MR, int NR, class E>
GYRE_INLINE void block(int64_t K, const E* a, int64_t lda, const E* b, int64_t ldb, Acc<E>* c,
                       int64_t ldc, bool add) {
  constexpr int kPair = TileOf<E>::kPair;
  Vec<Acc<E>> sum[MR][NR];
  for (int m = 0; m < MR; ++m) {
    for (int n = 0; n < NR; ++n) {
      sum[m][n] = Vec<Acc<E>>{};
    }
  }
  for (int64_t k = 0; k < K; k += kPair) {
    typename Step<E>::Right right[NR];
    for (int n = 0; n < NR; ++n) {
      right[n] = Step<E>::right(b + k * ldb + n * kLanes * kPair);
    }
    for (int m = 0; m < MR; ++m) {
      const auto left = Step<E>::left(a + m * lda + k);
      for (int n = 0; n < NR; ++n) {
        sum[m][n] = Step<E>::add(sum[m][n], left, right[n]);
      }
    }
  }
  for (int m = 0; m < MR; ++m) {
    for (int n = 0; n < NR; ++n) {
      Acc<E>* to = c + m * ldc + n * kLanes;
      store(to, add ? load(to) + sum[m][n] : sum[m][n]);
    }
  }
}

template <int NR, class E>
__attribute__((noinline)) void columns(int64_t M, int64_t K, const E* a, int64_t lda, const E* b,
                                       int64_t ldb, Acc<E>* c, int64_t ldc, bool add) {
  // Wide types: partial sums of 32 terms, whose rounding errors grow with 32 + K / 32, not with K.
  constexpr int64_t kTerms = 32;
  if constexpr (TileOf<E>::kPair == 1) {
    for (; K > kTerms; K -= kTerms, a += kTerms, b += kTerms * ldb, add = true) {
      columns<NR>(M, kTerms, a, lda, b, ldb, c, ldc, add);
    }
  }
  int64_t m = 0;
  for (; m + 4 <= M; m += 4) {
    block<4, NR>(K, a + m * lda, lda, b, ldb, c + m * ldc, ldc, add);
  }
  for (; m < M; ++m) {
    block<1, NR>(K, a + m * lda, lda, b, ldb, c + m * ldc, ldc, add);
  }
}

/// C [M, N] (+)= A [M, K] B packed [K / kPair][ldb][kPair]; N a multiple of kGranule.
template <class E>
void product(TileProduct other, int64_t M, int64_t N, int64_t K, const E* a, int64_t lda,
             const E* b, int64_t ldb, Acc<E>* c, int64_t ldc, bool add) {
  if constexpr (TileOf<E>::kPair == 2) {
    if (other != nullptr) {
      return other(M, N, K, lda, ldb, ldc, add, a, b, c);
    }
  }
  constexpr int64_t kPair = TileOf<E>::kPair;
  int64_t n = 0;
  for (; n + 4 * kLanes <= N; n += 4 * kLanes) {
    columns<kLanes == 16 ? 4 : 2>(M, K, a, lda, b + n * kPair, ldb, c + n, ldc, add);
    if constexpr (kLanes != 16) {
      constexpr int64_t kHalf = 2 * kLanes;
      columns<2>(M, K, a, lda, b + (n + kHalf) * kPair, ldb, c + n + kHalf, ldc, add);
    }
  }
  for (; n + 2 * kLanes <= N; n += 2 * kLanes) {
    columns<2>(M, K, a, lda, b + n * kPair, ldb, c + n, ldc, add);
  }
  for (; n < N; n += kLanes) {
    columns<1>(M, K, a, lda, b + n * kPair, ldb, c + n, ldc, add);
  }
}

/// n scores capped in place; the scale is still to come, as without a cap. Writes the derivative of
/// each to `slope` unless null.
template <class A>
void cap_scores(const Score& score, int64_t n, A* scores, A* slope) {
  const A in = static_cast<A>(score.scale / score.cap);
  const A out = static_cast<A>(score.cap / score.scale);
  for (int64_t i = 0; i < n; i += kLanes) {
    const Vec<A> t = tanh_of(load(scores + i) * in);
    store(scores + i, t * out);
    if (slope != nullptr) {
      store(slope + i, 1 - t * t);
    }
  }
}

/// On the causal diagonal, queries before kHalf see no key from kHalf on. That corner of a tile of
/// scores [keys][queries] is then neither computed nor read:
///            queries
///      keys  x x      kHalf
///            . x      .  the corner
inline constexpr int64_t kHalf = 32;

GYRE_INLINE bool hides_corner(TileProduct other, const QueryTile& q, const Visible& seen,
                              int64_t c0, int64_t width) {
  if (other != nullptr || q.columns <= kHalf || width <= kHalf) {
    return false;
  }
  int32_t end = 0;
  for (int64_t n = 0; n < kHalf; ++n) {
    end = seen.hi[n] > end ? seen.hi[n] : end;
  }
  return end <= c0 + kHalf;
}

/// A tile of scores and its products; `width` keys by N queries, D channels.
template <class E>
struct ScoreTile {
  TileProduct other;
  bool corner;  // hides_corner()
  int64_t width, N, D;
  static constexpr int64_t kPair = TileOf<E>::kPair;

  /// c [width, N] = keys [width, D] by packed queries [D][N].
  void make(const E* keys, const E* queries, Acc<E>* c) const {
    product<E>(other, corner ? kHalf : width, N, D, keys, D, queries, N, c, N, false);
    if (corner) {
      product<E>(other, width - kHalf, N - kHalf, D, keys + kHalf * D, D, queries + kHalf * kPair,
                 N, c + kHalf * N + kHalf, N, false);
    }
  }
  /// c [width, D] += tile [width, N] by packed queries [N][D].
  void over_queries(const E* tile, const E* queries, Acc<E>* c) const {
    product<E>(other, corner ? kHalf : width, D, N, tile, N, queries, D, c, D, true);
    if (corner) {
      product<E>(other, width - kHalf, D, N - kHalf, tile + kHalf * N + kHalf, N,
                 queries + kHalf * D, D, c + kHalf * D, D, true);
    }
  }
  /// c [D, N] (+)= columns [D][kKeys] of keys by the packed tile [width][N].
  void over_keys(const E* columns, const E* tile, Acc<E>* c, bool add) const {
    const int64_t even = (width + kPair - 1) / kPair * kPair, first = corner ? kHalf : 0;
    if (corner) {
      product<E>(other, D, kHalf, kHalf, columns, kKeys, tile, N, c, N, add);
    }
    product<E>(other, D, N - first, even, columns, kKeys, tile + first * kPair, N, c + first, N,
               add);
  }
  /// Keys that queries [n, n + kLanes) may see.
  GYRE_INLINE int64_t keys_of(int64_t n) const { return corner && n < kHalf ? kHalf : width; }
};

/// Whether the bias alone makes every probability of these keys exactly 0, as exp2_of() gives it.
///
/// least_top  a lower bound of the largest score of each query
template <class E>
bool vanishes(const Score& score, const QueryTile& q, const KeySet& keys, int64_t c0, int64_t width,
              double least_top) {
  constexpr double kDepth = sizeof(Acc<E>) == 8 ? 1100.0 : 127.0;
  if (!(score.slope > 0.0)) {
    return false;
  }
  const int64_t nearest = q.first - keys.first - keys.stride * (c0 + width - 1);
  const double largest = __builtin_fabs(score.scale) * q.norm * keys.norms[c0 / kKeys];
  return largest - score.slope * static_cast<double>(nearest) < least_top - kDepth;
}

template <int... I>
struct Lanes {};

// Exchanges, in rows a and b, the lanes whose number differs in bit S.
template <int S, class V, int... I>
GYRE_INLINE void exchange(V& a, V& b, Lanes<I...>) {
  const V lo = __builtin_shufflevector(a, b, ((I & S) ? I - S + kLanes : I)...);
  const V hi = __builtin_shufflevector(a, b, ((I & S) ? I + kLanes : I + S)...);
  a = lo;
  b = hi;
}

#if defined(__AVX512F__)
using AllLanes = Lanes<0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15>;
#elif defined(__AVX2__)
using AllLanes = Lanes<0, 1, 2, 3, 4, 5, 6, 7>;
#else
using AllLanes = Lanes<0, 1, 2, 3>;
#endif

template <int S, class V>
GYRE_INLINE void exchange_rows(V (&rows)[kLanes]) {
  if constexpr (S < kLanes) {
    for (int i = 0; i < kLanes; ++i) {
      if ((i & S) == 0) {
        exchange<S>(rows[i], rows[i + S], AllLanes{});
      }
    }
    exchange_rows<2 * S>(rows);
  }
}

/// out [columns][rows] = in [rows][columns]^T of 4-byte elements, both counts multiples of kLanes.
template <class W>
GYRE_INLINE void transpose_words(const W* in, int64_t n_rows, int64_t n_columns, int64_t in_step,
                                 W* out, int64_t out_step) {
  for (int64_t r = 0; r < n_rows; r += kLanes) {
    for (int64_t c = 0; c < n_columns; c += kLanes) {
      Vec<W> rows[kLanes];
      for (int i = 0; i < kLanes; ++i) {
        __builtin_memcpy(&rows[i], in + (r + i) * in_step + c, sizeof rows[i]);
      }
      exchange_rows<1>(rows);
      for (int i = 0; i < kLanes; ++i) {
        __builtin_memcpy(out + (c + i) * out_step + r, &rows[i], sizeof rows[i]);
      }
    }
  }
}
// For exact work, not for speed.
GYRE_INLINE void transpose_words(const double* in, int64_t n_rows, int64_t n_columns,
                                 int64_t in_step, double* out, int64_t out_step) {
  for (int64_t r = 0; r < n_rows; ++r) {
    for (int64_t c = 0; c < n_columns; ++c) {
      out[c * out_step + r] = in[r * in_step + c];
    }
  }
}

/// Two rows of bfloat16 as one row of pairs.
GYRE_INLINE void interleave(const BFloat* a, const BFloat* b, int64_t n, uint32_t* out) {
  for (int64_t i = 0; i < n; ++i) {
    out[i] = a[i].bits | static_cast<uint32_t>(b[i].bits) << 16;
  }
}

/// What tiles of bfloat16 tensors are made of.
#if GYRE_HAS_BF16_TILES
using Bf16Tile = BFloat;
#else
using Bf16Tile = float;
#endif

/// Runs `call` with E for the tile type.
#define GYRE_WITH_TILE(tile, call)    \
  if (tile == TileType::F64) {        \
    using E = double;                 \
    call;                             \
  } else if (tile == TileType::F32) { \
    using E = float;                  \
    call;                             \
  } else {                            \
    using E = Bf16Tile;               \
    call;                             \
  }

/// Runs `call` with T for the element type of a tensor and E for the tile type that goes with it.
#define GYRE_WITH_TYPES(type, tile, call) \
  if (type == Element::F64) {             \
    using T = double;                     \
    using E = double;                     \
    call;                                 \
  } else if (type == Element::F32) {      \
    using T = float;                      \
    using E = float;                      \
    call;                                 \
  } else if (tile == TileType::F32) {     \
    using T = BFloat;                     \
    using E = float;                      \
    call;                                 \
  } else {                                \
    using T = BFloat;                     \
    using E = Bf16Tile;                   \
    call;                                 \
  }

}  // namespace gyre::attention::cpu::GYRE_ISA
