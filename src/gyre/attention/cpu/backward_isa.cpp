// One tile of keys against the tiles of queries that see it, backward (Dao 2023, arXiv:2307.08691,
// sec. 3.1): probabilities are made
// again from the scores, their maxima and sums.
//   P = exp2(S - top) / sum   dS = P (dP - delta)
//   dV += P^T dO   dK += dS^T Q   dQ^T += K^T dS^T
// Tricks: all five products use tiles as they lie, because scores are kept transposed; the softmax
// scale is applied to whole gradients at the end.
#include "gyre/attention/cpu/tiles_isa.h"

namespace gyre::attention::cpu::GYRE_ISA {
namespace {

template <class E>
struct Work {
  alignas(64) Acc<E> scores[kKeys * kQueries];
  alignas(64) Acc<E> grads[kKeys * kQueries];
  alignas(64) E p[kKeys * kQueries];            // [keys][columns]
  alignas(64) E ds[kKeys * kQueries];           // [keys][columns]
  alignas(64) E ds_pairs[kKeys * kQueries];     // packed
  alignas(64) Acc<E> slopes[kKeys * kQueries];  // of capped scores
};

struct Place {
  const QueryTile* q;
  const KeySet* keys;
  const Visible* seen;
  int64_t c0, width;
};

template <class A>
GYRE_INLINE Vec<A> distances(const Place& at_tile, int64_t n) {
  const QueryTile& q = *at_tile.q;
  Vec<A> v;
  for (int i = 0; i < kLanes; ++i) {
    v[i] = static_cast<A>(q.first + (n + i) * q.stride - at_tile.keys->first -
                          at_tile.c0 * at_tile.keys->stride);
  }
  return v;
}

// One row of a vector of columns.
template <class A, bool kMask, bool kBias, bool kCap>
struct Row {
  Vec<A> distance0, top, inverse, delta;
  Ints lo, hi;
  A scale, slope, stride;
  int64_t c0;
  const A *scores, *grads, *slopes;  // of the tile

  GYRE_INLINE void make(int64_t c, int64_t i, Vec<A>& p, Vec<A>& ds) const {
    Vec<A> s = load(scores + i) * scale - top;
    if constexpr (kBias) {
      s -= slope * (distance0 - static_cast<A>(c) * stride);
    }
    p = exp2_of(s) * inverse;
    if constexpr (kMask) {
      const Ints key = splat(static_cast<int32_t>(c0 + c));
      const Ints hidden = (key < lo) | (key >= hi);
      if constexpr (sizeof(A) == 4) {
        p = hidden ? Vec<A>{} : p;
      } else {
        typedef int64_t Longs __attribute__((vector_size(8 * kLanes)));
        p = __builtin_convertvector(hidden, Longs) ? Vec<A>{} : p;
      }
    }
    ds = p * (load(grads + i) - delta);
    if constexpr (kCap) {
      ds *= load(slopes + i);
    }
  }
};

GYRE_INLINE void store_rows(const Floats (&x)[2], int64_t columns, BFloat* rows) {
  store(rows, x[0]);
  store(rows + columns, x[1]);
}

GYRE_INLINE void store_pairs(const Floats (&x)[2], BFloat* rows, int64_t columns, BFloat* pairs) {
#if GYRE_HAS_BF16_TILES
  const __m256i a = (__m256i)_mm512_cvtneps_pbh((__m512)x[0]);
  const __m256i b = (__m256i)_mm512_cvtneps_pbh((__m512)x[1]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows), a);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(rows + columns), b);
  _mm512_storeu_si512(pairs, _mm512_or_si512(_mm512_cvtepu16_epi32(a),
                                             _mm512_slli_epi32(_mm512_cvtepu16_epi32(b), 16)));
#else
  (void)x, (void)rows, (void)columns, (void)pairs;
#endif
}

template <class E, bool kMask, bool kBias, bool kCap>
void probabilities(const BackwardTile& t, const Place& at_tile, const ScoreTile<E>& tile,
                   Work<E>& w) {
  using A = Acc<E>;
  const QueryTile& q = *at_tile.q;
  Row<A, kMask, kBias, kCap> row;
  row.scores = w.scores;
  row.grads = w.grads;
  row.slopes = w.slopes;
  row.scale = static_cast<A>(t.score.scale);
  row.slope = static_cast<A>(t.score.slope);
  row.stride = static_cast<A>(at_tile.keys->stride);
  row.c0 = at_tile.c0;
  for (int64_t n = 0; n < q.columns; n += kLanes) {
    row.distance0 = distances<A>(at_tile, n);
    row.top = load(at<const A>(q.top, n));
    row.inverse = load(at<const A>(q.inverse, n));
    row.delta = load(at<const A>(q.delta, n));
    if constexpr (kMask) {
      __builtin_memcpy(&row.lo, at_tile.seen->lo + n, sizeof row.lo);
      __builtin_memcpy(&row.hi, at_tile.seen->hi + n, sizeof row.hi);
    }
    const int64_t width = tile.keys_of(n);
    if constexpr (TileOf<E>::kPair == 2) {
      for (int64_t c = 0; c < width; c += 2) {
        Floats p[2] = {}, ds[2] = {};
        const int64_t i = c * q.columns + n;
        row.make(c, i, p[0], ds[0]);
        if (c + 1 < width) {
          row.make(c + 1, i + q.columns, p[1], ds[1]);
        }
        store_rows(p, q.columns, w.p + i);
        store_pairs(ds, w.ds + i, q.columns, w.ds_pairs + c * q.columns + 2 * n);
      }
    } else {
      for (int64_t c = 0; c < width; ++c) {
        const int64_t i = c * q.columns + n;
        Vec<A> p, ds;
        row.make(c, i, p, ds);
        store(w.p + i, p);
        store(w.ds + i, ds);
      }
    }
  }
}

template <class E>
void against(const BackwardTile& t, const Place& at_tile, void* dq, Work<E>& w) {
  using A = Acc<E>;
  const QueryTile& q = *at_tile.q;
  const int64_t Dp = t.Dp, c0 = at_tile.c0, width = at_tile.width;
  const bool open = at_tile.seen->open_begin <= c0 && c0 + width <= at_tile.seen->open_end;
  const bool corner = !open && hides_corner(t.product, q, *at_tile.seen, c0, width);
  const ScoreTile<E> tile{t.product, corner, width, q.columns, Dp};
  tile.make(at<const E>(at_tile.keys->rows, c0 * Dp), at<const E>(q.q_columns, 0), w.scores);
  tile.make(at<const E>(at_tile.keys->values, c0 * Dp), at<const E>(q.grad_columns, 0), w.grads);
  const bool bias = t.score.slope != 0.0;
  if (t.score.cap != 0.0) {  // always with the mask: few layers have a cap
    cap_scores<A>(t.score, width * q.columns, w.scores, w.slopes);
    bias ? probabilities<E, true, true, true>(t, at_tile, tile, w)
         : probabilities<E, true, false, true>(t, at_tile, tile, w);
  } else if (open) {
    bias ? probabilities<E, false, true, false>(t, at_tile, tile, w)
         : probabilities<E, false, false, false>(t, at_tile, tile, w);
  } else {
    bias ? probabilities<E, true, true, false>(t, at_tile, tile, w)
         : probabilities<E, true, false, false>(t, at_tile, tile, w);
  }
  tile.over_queries(w.p, at<const E>(q.grad_rows, 0), at<A>(t.dv, c0 * Dp));
  tile.over_queries(w.ds, at<const E>(q.q_rows, 0), at<A>(t.dk, c0 * Dp));
  tile.over_keys(at<const E>(at_tile.keys->key_columns, c0 * Dp),
                 TileOf<E>::kPair == 2 ? w.ds_pairs : w.ds, at<A>(dq, 0), true);
}

template <class E>
void backward_of(const BackwardTile& t) {
  Work<E> work;
  const KeySet& keys = t.keys[t.part];
  const int64_t c0 = t.key_tile * kKeys;
  const int64_t width = keys.n - c0 < kKeys ? keys.n - c0 : kKeys;
  for (int64_t i = 0; i < t.n_query_tiles; ++i) {
    const Visible& seen = t.queries[i].seen[t.part];
    if (seen.begin < c0 + width && c0 < seen.end &&
        !vanishes<E>(t.score, t.queries[i], keys, c0, width, t.queries[i].least_top)) {
      against<E>(t, {t.queries + i, &keys, &seen, c0, width}, t.dq[i], work);
    }
  }
}

}  // namespace

void backward_tile(const BackwardTile& t) {
  GYRE_WITH_TILE(t.tile, (backward_of<E>(t)))
}

}  // namespace gyre::attention::cpu::GYRE_ISA
