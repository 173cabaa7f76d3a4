// One tile of queries against all keys it sees: online softmax (Milakov & Gimelshein 2018,
// arXiv:1805.02867; Dao et al. 2022, arXiv:2205.14135).
// Tricks: scores are kept transposed, so maxima and sums run down the columns without a shuffle;
// the bias is made from the two indices and never read, and where it makes
// probabilities exactly 0 the tile is skipped; tiles that every query sees skip the mask;
// the output is rescaled only when a maximum moved.
#include "gyre/attention/cpu/tiles_isa.h"

namespace gyre::attention::cpu::GYRE_ISA {
namespace {

template <class A>
struct Running {  // per column
  alignas(64) A top[kQueries];
  alignas(64) A sum[kQueries];
  alignas(64) A factor[kQueries];  // by which the output so far must be multiplied
};

// Keys [c0, c0 + width) of one set.
struct Slab {
  const KeySet* keys;
  const Visible* seen;
  int64_t c0, width;
};

template <class A>
GYRE_INLINE Vec<A> lane_numbers() {
  Vec<A> v;
  for (int i = 0; i < kLanes; ++i) {
    v[i] = static_cast<A>(i);
  }
  return v;
}

// Lower row in the low half of each word.
GYRE_INLINE void store_pair(BFloat* out, Floats a, Floats b) {
#if GYRE_HAS_BF16_TILES
  const __m512i lo = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)a));
  const __m512i hi = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh((__m512)b));
  _mm512_storeu_si512(out, _mm512_or_si512(lo, _mm512_slli_epi32(hi, 16)));
#else
  (void)out, (void)a, (void)b;
#endif
}

// Scores of one vector of columns: scaled, biased, masked, in place; returns the new maximum.
template <class A, bool kMask, bool kBias>
GYRE_INLINE Vec<A> finish_scores(const ForwardTile& t, const Slab& slab, int64_t n, int64_t width,
                                 A* scores, Vec<A> top) {
  const QueryTile& q = *t.queries;
  const A scale = static_cast<A>(t.score.scale), slope = static_cast<A>(t.score.slope);
  const Vec<A> distance0 =
      lane_numbers<A>() * static_cast<A>(q.stride) +
      static_cast<A>(q.first + n * q.stride - slab.keys->first - slab.c0 * slab.keys->stride);
  Ints lo{}, hi{};
  if constexpr (kMask) {
    __builtin_memcpy(&lo, slab.seen->lo + n, sizeof lo);
    __builtin_memcpy(&hi, slab.seen->hi + n, sizeof hi);
  }
  for (int64_t c = 0; c < width; ++c) {
    A* at_c = scores + c * q.columns + n;
    Vec<A> s = load(at_c) * scale;
    if constexpr (kBias) {
      s -= slope * (distance0 - static_cast<A>(c * slab.keys->stride));
    }
    if constexpr (kMask) {
      const Ints key = splat(static_cast<int32_t>(slab.c0 + c));
      const Ints hidden = (key < lo) | (key >= hi);
      if constexpr (sizeof(A) == 4) {
        s = hidden ? splat(-__builtin_inff()) : s;
      } else {
        typedef int64_t Longs __attribute__((vector_size(8 * kLanes)));
        s = __builtin_convertvector(hidden, Longs) ? splat(-__builtin_inf()) : s;
      }
    }
    store(at_c, s);
    top = larger(top, s);
  }
  return top;
}

// exp2 of the scores into packed probabilities; returns their sum.
template <class E>
GYRE_INLINE Vec<Acc<E>> exponentials(const Acc<E>* scores, int64_t columns, int64_t width,
                                     int64_t n, Vec<Acc<E>> top, E* out) {
  Vec<Acc<E>> sum{};
  if constexpr (TileOf<E>::kPair == 2) {
    for (int64_t c = 0; c < width; c += 2) {
      const Floats a = exp2_of(load(scores + c * columns + n) - top);
      const Floats b =
          c + 1 < width ? exp2_of(load(scores + (c + 1) * columns + n) - top) : Floats{};
      sum += a + b;
      store_pair(out + c * columns + 2 * n, a, b);
    }
  } else {
    for (int64_t c = 0; c < width; ++c) {
      const Vec<E> p = exp2_of(load(scores + c * columns + n) - top);
      sum += p;
      store(out + c * columns + n, p);
    }
  }
  return sum;
}

// Returns whether the output so far must be rescaled.
template <class E, bool kMask, bool kBias>
bool softmax_slab(const ForwardTile& t, const Slab& slab, const ScoreTile<E>& tile, Acc<E>* scores,
                  Running<Acc<E>>& run, E* probabilities) {
  using A = Acc<E>;
  const int64_t columns = t.queries->columns;
  bool moved = false;
  for (int64_t n = 0; n < columns; n += kLanes) {
    const Vec<A> before = load(run.top + n);
    const int64_t width = tile.keys_of(n);
    const Vec<A> top = finish_scores<A, kMask, kBias>(t, slab, n, width, scores, before);
    // A query that has seen nothing yet keeps -inf; 0 stands in, so that -inf - top stays -inf.
    const Vec<A> safe = top == splat(static_cast<A>(-__builtin_inf())) ? Vec<A>{} : top;
    const Vec<A> factor = exp2_of(before - safe);
    const Vec<A> sum = exponentials<E>(scores, columns, width, n, safe, probabilities);
    store(run.sum + n, load(run.sum + n) * factor + sum);
    store(run.top + n, top);
    store(run.factor + n, factor);
    moved |= largest_of<A>(before != top ? splat(A{1}) : Vec<A>{}) > A{};
  }
  return moved;
}

template <class A>
void rescale(const A* factor, int64_t columns, int64_t Dp, A* out) {
  for (int64_t d = 0; d < Dp; ++d) {
    for (int64_t n = 0; n < columns; n += kLanes) {
      store(out + d * columns + n, load(out + d * columns + n) * load(factor + n));
    }
  }
}

// out^T [Dp][columns] / sum -> rows of the tensor.
template <class T, class A>
void write_rows(const ForwardTile& t, const Running<A>& run, A* out, A* rows) {
  const int64_t columns = t.queries->columns;
  alignas(64) A inverse[kQueries];
  for (int64_t n = 0; n < columns; ++n) {
    inverse[n] = A{1} / run.sum[n];
  }
  rescale(inverse, columns, t.Dp, out);
  transpose_words(out, t.Dp, columns, columns, rows, t.Dp);
  for (int64_t r = 0; r < t.queries->n; ++r) {
    T* to = at<T>(t.out.data, (t.out.first + r * t.out.stride) * t.out.step);
    int64_t d = 0;
    for (; d + kLanes <= t.head_dim; d += kLanes) {
      store(to + d, load(rows + r * t.Dp + d));
    }
    for (; d < t.head_dim; ++d) {
      put(to + d, rows[r * t.Dp + d]);
    }
    const int64_t token = t.out.first + r * t.out.stride;
    *at<A>(t.top, token) = run.top[r];
    *at<A>(t.inverse, token) = inverse[r];
  }
}

template <class A>
double least(const A* top, int64_t n) {
  double out = top[0];
  for (int64_t i = 1; i < n; ++i) {
    out = top[i] < out ? top[i] : out;
  }
  return out;
}

template <class E>
struct Space {
  Acc<E>* scores;
  E* probabilities;
  Acc<E>* out;
  bool first;  // nothing is in `out` yet
};

// Scores, softmax and values of one slab, added to the output.
template <class E>
void add_slab(const ForwardTile& t, const Slab& slab, Running<Acc<E>>& run, const Space<E>& space) {
  const QueryTile& q = *t.queries;
  const KeySet& keys = *slab.keys;
  const int64_t c0 = slab.c0, width = slab.width;
  const bool open = slab.seen->open_begin <= c0 && c0 + width <= slab.seen->open_end;
  const bool corner = !open && hides_corner(t.product, q, *slab.seen, c0, width);
  const ScoreTile<E> tile{t.product, corner, width, q.columns, t.Dp};
  tile.make(at<const E>(keys.rows, c0 * t.Dp), at<const E>(q.q_columns, 0), space.scores);
  if (t.score.cap != 0.0) {
    cap_scores<Acc<E>>(t.score, width * q.columns, space.scores, nullptr);
  }
  const bool bias = t.score.slope != 0.0;
  const auto softmax = open ? (bias ? softmax_slab<E, false, true> : softmax_slab<E, false, false>)
                            : (bias ? softmax_slab<E, true, true> : softmax_slab<E, true, false>);
  if (softmax(t, slab, tile, space.scores, run, space.probabilities) && !space.first) {
    rescale(run.factor, q.columns, t.Dp, space.out);
  }
  tile.over_keys(at<const E>(keys.value_columns, c0 * t.Dp), space.probabilities, space.out,
                 !space.first);
}

template <class T, class E>
void attend(const ForwardTile& t) {
  using A = Acc<E>;
  alignas(64) A scores[kKeys * kQueries];
  alignas(64) E probabilities[kKeys * kQueries];
  A* out = at<A>(t.scratch, 0);
  A* rows = out + t.Dp * kQueries;
  const QueryTile& q = *t.queries;
  Running<A> run;
  for (int64_t n = 0; n < q.columns; ++n) {
    run.top[n] = static_cast<A>(-__builtin_inf());
    run.sum[n] = A{};
  }
  bool first = true;
  // From the nearest keys to the furthest, so that far ones may be known to vanish.
  for (int64_t part = 1; part >= 0; --part) {
    const Visible& seen = q.seen[part];
    const KeySet& keys = t.keys[part];
    for (int64_t c0 = (seen.end - 1) / kKeys * kKeys; c0 + kKeys > seen.begin && c0 >= 0;
         c0 -= kKeys) {
      const int64_t width = keys.n - c0 < kKeys ? keys.n - c0 : kKeys;
      if (seen.begin == seen.end || vanishes<E>(t.score, q, keys, c0, width, least(run.top, q.n))) {
        continue;
      }
      add_slab<E>(t, {&keys, &seen, c0, width}, run, {scores, probabilities, out, first});
      first = false;
    }
  }
  write_rows<T>(t, run, out, rows);
}

}  // namespace

void forward_tile(const ForwardTile& t) {
  GYRE_WITH_TYPES(t.type, t.tile, (attend<T, E>(t)))
}

}  // namespace gyre::attention::cpu::GYRE_ISA
