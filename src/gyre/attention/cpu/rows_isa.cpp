// Row work of the fused attention: rotation while rows are packed, transposes, and the way back.
// Tricks: each query and key row is read, rotated and rounded once; the frequency gradient is
// summed while the gradient row is in cache, in the form that costs O(P) per row, not O(T P).
#include "gyre/attention/cpu/tiles_isa.h"

namespace gyre::attention::cpu::GYRE_ISA {
namespace {

// out[x], out[y] = (x c - s y, x s + y c) over all pairs; direction -1 turns back.
template <class A>
GYRE_INLINE void turn_row(const Turn& turn, int64_t token, A direction, A* row) {
  const A* cos = at<const A>(turn.cos, token * turn.n_pairs);
  const A* sin = at<const A>(turn.sin, token * turn.n_pairs);
  const int64_t P = turn.n_pairs;
  if (turn.interleaved) {
    for (int64_t m = 0; m < P; ++m) {
      const A x = row[2 * m], y = row[2 * m + 1], c = cos[m], s = direction * sin[m];
      row[2 * m] = x * c - y * s;
      row[2 * m + 1] = x * s + y * c;
    }
    return;
  }
  int64_t m = 0;
  for (; m + kLanes <= P; m += kLanes) {
    const Vec<A> x = load(row + m), y = load(row + P + m), c = load(cos + m);
    const Vec<A> s = direction * load(sin + m);
    store(row + m, x * c - y * s);
    store(row + P + m, x * s + y * c);
  }
  for (; m < P; ++m) {
    const A x = row[m], y = row[P + m], c = cos[m], s = direction * sin[m];
    row[m] = x * c - y * s;
    row[P + m] = x * s + y * c;
  }
}

template <class A>
GYRE_INLINE void scale_row(A factor, int64_t n, A* row) {
  for (int64_t d = 0; d < n; ++d) {
    row[d] *= factor;
  }
}

template <class T, class A>
GYRE_INLINE void widen(const T* in, int64_t n, A* out) {
  int64_t d = 0;
  for (; d + kLanes <= n; d += kLanes) {
    store(out + d, load(in + d));
  }
  for (; d < n; ++d) {
    out[d] = scalar(in[d]);
  }
}

template <class A, class T>
GYRE_INLINE void narrow(const A* in, int64_t n, T* out) {
  int64_t d = 0;
  for (; d + kLanes <= n; d += kLanes) {
    store(out + d, load(in + d));
  }
  for (; d < n; ++d) {
    put(out + d, in[d]);
  }
}

constexpr int64_t kLargestDim = 1024;

// Rows whose pairs are halves and fill whole vectors, straight from tensor to tensor.
template <class A>
GYRE_INLINE bool is_plain(const Turn& turn, int64_t head_dim) {
  return turn.gain == nullptr && !turn.interleaved && turn.n_pairs % kLanes == 0 &&
         head_dim % kLanes == 0;
}

template <class A, class In, class Out>
GYRE_INLINE void turn_plain(const Turn& turn, int64_t token, A direction, A scale, int64_t head_dim,
                            const In* in, Out* out) {
  const int64_t P = turn.n_pairs;
  const A* cos = at<const A>(turn.cos, token * P);
  const A* sin = at<const A>(turn.sin, token * P);
  for (int64_t m = 0; m < P; m += kLanes) {
    const Vec<A> x = load(in + m) * scale, y = load(in + P + m) * scale, c = load(cos + m);
    const Vec<A> s = load(sin + m) * direction;
    store(out + m, x * c - y * s);
    store(out + P + m, x * s + y * c);
  }
  for (int64_t d = 2 * P; d < head_dim; d += kLanes) {
    store(out + d, load(in + d) * scale);
  }
}

template <class T, class E>
void pack(const PackRows& p) {
  using A = Acc<E>;
  E* out = at<E>(p.out, 0);
  const bool plain = is_plain<A>(p.turn, p.head_dim) && p.Dp == p.head_dim;
  alignas(64) A row[kLargestDim];
  __builtin_memset(row, 0, static_cast<size_t>(p.Dp) * sizeof(A));
  for (int64_t r = 0; r < p.rows.count; ++r, out += p.Dp) {
    const int64_t token = p.rows.first + r * p.rows.stride;
    if (plain) {
      turn_plain(p.turn, token, A{1}, A{1}, p.head_dim,
                 at<const T>(p.rows.data, token * p.rows.step), out);
      continue;
    }
    widen(at<const T>(p.rows.data, token * p.rows.step), p.head_dim, row);
    if (p.turn.cos != nullptr) {
      turn_row(p.turn, token, A{1}, row);
    }
    if (p.turn.gain != nullptr) {
      scale_row(static_cast<A>(p.turn.gain[token]), p.head_dim, row);
    }
    narrow(row, p.Dp, out);
  }
  __builtin_memset(out, 0, static_cast<size_t>((p.n_padded - p.rows.count) * p.Dp) * sizeof(E));
}

void pack_rows(const PackRows& p) {
  GYRE_WITH_TYPES(p.type, p.tile, (pack<T, E>(p)))
}

template <class E>
void columns_of(const void* rows, int64_t n, int64_t Dp, void* out) {
  if constexpr (TileOf<E>::kPair == 2) {
    transpose_words(at<const int32_t>(rows, 0), n, Dp / 2, Dp / 2, at<int32_t>(out, 0), n);
  } else {
    transpose_words(at<const E>(rows, 0), n, Dp, Dp, at<E>(out, 0), n);
  }
}

void pack_columns(TileType tile, const void* rows, int64_t n, int64_t Dp, void* out) {
  if (tile == TileType::BF16 &&
      (Dp / 2) % kLanes != 0) {  // Dp = 16, 48, ...: half a vector of pairs
    const auto* in = at<const int32_t>(rows, 0);
    for (int64_t d = 0; d < Dp / 2; ++d) {
      for (int64_t r = 0; r < n; ++r) {
        at<int32_t>(out, 0)[d * n + r] = in[r * (Dp / 2) + d];
      }
    }
    return;
  }
  GYRE_WITH_TILE(tile, (columns_of<E>(rows, n, Dp, out)))
}

template <class E>
void pairs_of(const void* rows, int64_t n, int64_t Dp, void* out) {
  if constexpr (TileOf<E>::kPair == 2) {
    for (int64_t r = 0; r < n; r += 2) {
      const BFloat* a = at<const BFloat>(rows, r * Dp);
      interleave(a, a + Dp, Dp, at<uint32_t>(out, r / 2 * Dp));
    }
  } else {
    __builtin_memcpy(out, rows, static_cast<size_t>(n * Dp) * sizeof(E));
  }
}

void pack_pairs(TileType tile, const void* rows, int64_t n, int64_t Dp, void* out) {
  GYRE_WITH_TILE(tile, (pairs_of<E>(rows, n, Dp, out)))
}

template <class E>
void turned(const void* rows, int64_t n, int64_t Dp, void* out) {
  if constexpr (TileOf<E>::kPair == 2) {
    // As pairs of rows first, so that a transpose moves whole words.
    alignas(64) uint32_t pairs[kKeys / 2 * kLargestDim];
    __builtin_memset(pairs, 0, static_cast<size_t>(kKeys / 2 * Dp) * sizeof(uint32_t));
    for (int64_t r = 0; r + 1 < n; r += 2) {
      const BFloat* a = at<const BFloat>(rows, r * Dp);
      interleave(a, a + Dp, Dp, pairs + r / 2 * Dp);
    }
    if (n % 2 != 0) {
      const BFloat* a = at<const BFloat>(rows, (n - 1) * Dp);
      for (int64_t d = 0; d < Dp; ++d) {
        pairs[n / 2 * Dp + d] = a[d].bits;
      }
    }
    transpose_words(reinterpret_cast<int32_t*>(pairs), kKeys / 2, Dp, Dp, at<int32_t>(out, 0),
                    kKeys / 2);
  } else {
    const int64_t whole = n - n % kLanes;
    E* o = at<E>(out, 0);
    transpose_words(at<const E>(rows, 0), whole, Dp, Dp, o, kKeys);
    for (int64_t d = 0; d < Dp; ++d) {
      for (int64_t r = whole; r < kKeys; ++r) {
        o[d * kKeys + r] = r < n ? at<const E>(rows, 0)[r * Dp + d] : E{};
      }
    }
  }
}

void transpose(TileType tile, const void* rows, int64_t n, int64_t Dp, void* out) {
  GYRE_WITH_TILE(tile, (turned<E>(rows, n, Dp, out)))
}

template <class E>
void sums_turned(const void* in, int64_t columns, int64_t Dp, void* out) {
  transpose_words(at<const Acc<E>>(in, 0), Dp, columns, columns, at<Acc<E>>(out, 0), Dp);
}

void transpose_sums(TileType tile, const void* in, int64_t columns, int64_t Dp, void* out) {
  GYRE_WITH_TILE(tile, (sums_turned<E>(in, columns, Dp, out)))
}

template <class E>
double norm_of(const void* rows, int64_t n, int64_t Dp) {
  using A = Acc<E>;
  A most{};
  for (int64_t r = 0; r < n; ++r) {
    const E* row = at<const E>(rows, r * Dp);
    Vec<A> sum{};
    for (int64_t d = 0; d < Dp; d += kLanes) {
      sum += load(row + d) * load(row + d);
    }
    const A total = sum_of<A>(sum);
    if (total != total) {
      return static_cast<double>(total);  // nothing is known of a tile with a NaN
    }
    most = total > most ? total : most;
  }
  return __builtin_sqrt(static_cast<double>(most));
}

double largest_norm(TileType tile, const void* rows, int64_t n, int64_t Dp) {
  double norm = 0.0;
  GYRE_WITH_TILE(tile, (norm = norm_of<E>(rows, n, Dp)))
  return norm;
}

template <class T, class A>
void deltas(const DeltaRows& p) {
  A* delta = at<A>(p.delta, 0);
  for (int64_t r = 0; r < p.out.count; ++r) {
    const T* o = at<const T>(p.out.data, (p.out.first + r * p.out.stride) * p.out.step);
    const T* g = at<const T>(p.grad.data, (p.grad.first + r * p.grad.stride) * p.grad.step);
    Vec<A> sum{};
    int64_t d = 0;
    for (; d + kLanes <= p.head_dim; d += kLanes) {
      sum += load(o + d) * load(g + d);
    }
    A total = sum_of<A>(sum);
    for (; d < p.head_dim; ++d) {
      total += scalar(o[d]) * scalar(g[d]);
    }
    delta[r] = total;
  }
  for (int64_t r = p.out.count; r < p.columns; ++r) {
    delta[r] = A{};
  }
}

void delta_rows(const DeltaRows& p) {
  switch (p.type) {
    case Element::F64:
      return deltas<double, double>(p);
    case Element::F32:
      return deltas<float, float>(p);
    case Element::BF16:
      return deltas<BFloat, float>(p);
  }
}

// The difference of two products cancels; bfloat16 rows have lost more than that already.
template <class E>
struct WideOf {
  using type = double;
};
template <>
struct WideOf<BFloat> {
  using type = float;
};
template <class E>
using Wide = typename WideOf<E>::type;

// The same for whole vectors of pairs that are halves; grad without the scale.
template <class E, class A>
GYRE_INLINE void add_cross_plain(const FinishRows& p, const E* rotated, const A* grad,
                                 double weight) {
  using W = Wide<E>;
  const int64_t P = p.turn.n_pairs;
  for (int64_t m = 0; m < P; m += kLanes) {
    const auto ax = __builtin_convertvector(load(rotated + m), Vec<W>);
    const auto ay = __builtin_convertvector(load(rotated + P + m), Vec<W>);
    const auto bx = __builtin_convertvector(load(grad + m), Vec<W>);
    const auto by = __builtin_convertvector(load(grad + P + m), Vec<W>);
    const auto cross = __builtin_convertvector(ax * by - ay * bx, Vec<double>);
    store(p.weighted + m, load(p.weighted + m) + weight * cross);
  }
}

// Adds (rotated x grad) of every pair, times the position, to the frequency sums.
template <class E, class A>
GYRE_INLINE void add_cross(const FinishRows& p, const E* rotated, const A* grad, double position) {
  const int64_t P = p.turn.n_pairs;
  const int64_t step = p.turn.interleaved ? 2 : 1, second = p.turn.interleaved ? 1 : P;
  using W = Wide<E>;
  for (int64_t m = 0; m < P; ++m) {
    const W ax = scalar(rotated[step * m]), ay = scalar(rotated[step * m + second]);
    const W bx = grad[step * m], by = grad[step * m + second];
    p.weighted[m] += position * static_cast<double>(ax * by - ay * bx);
  }
  for (int64_t m = 0; p.plain != nullptr && m < P; ++m) {
    const double ax = scalar(rotated[step * m]), ay = scalar(rotated[step * m + second]);
    const double bx = grad[step * m], by = grad[step * m + second];
    p.plain[m] += ax * by - ay * bx;
    p.magnitude[m] += __builtin_sqrt((ax * ax + ay * ay) * (bx * bx + by * by));
  }
}

template <class T, class E>
void finish(const FinishRows& p) {
  using A = Acc<E>;
  alignas(64) A row[kLargestDim];
  const A* grad = at<const A>(p.grad, 0);
  const E* rotated = at<const E>(p.rotated, 0);
  const bool plain = is_plain<A>(p.turn, p.head_dim);
  for (int64_t r = 0; r < p.out.count; ++r, grad += p.Dp) {
    const int64_t token = p.out.first + r * p.out.stride;
    if (plain && p.plain == nullptr) {
      if (p.rotated != nullptr) {
        add_cross_plain(p, rotated + r * p.Dp, grad,
                        p.scale * static_cast<double>(p.positions[token] - p.origin));
      }
      turn_plain(p.turn, token, A{-1}, static_cast<A>(p.scale), p.head_dim, grad,
                 at<T>(p.out.data, token * p.out.step));
      continue;
    }
    for (int64_t d = 0; d < p.Dp; d += kLanes) {
      store(row + d, static_cast<A>(p.scale) * load(grad + d));
    }
    if (p.rotated != nullptr) {
      add_cross(p, rotated + r * p.Dp, row, static_cast<double>(p.positions[token] - p.origin));
    }
    if (p.turn.gain != nullptr) {
      scale_row(static_cast<A>(p.turn.gain[token]), p.head_dim, row);
    }
    if (p.turn.cos != nullptr) {
      turn_row(p.turn, token, A{-1}, row);
    }
    narrow(row, p.head_dim, at<T>(p.out.data, token * p.out.step));
  }
}

void finish_rows(const FinishRows& p) {
  GYRE_WITH_TYPES(p.type, p.tile, (finish<T, E>(p)))
}

}  // namespace

void forward_tile(const ForwardTile& tile);
void backward_tile(const BackwardTile& tile);

const Kernels& kernels() {
  static constexpr Kernels table{pack_rows,
                                 pack_columns,
                                 pack_pairs,
                                 transpose,
                                 transpose_sums,
                                 forward_tile,
                                 delta_rows,
                                 backward_tile,
                                 finish_rows,
                                 largest_norm,
                                 GYRE_HAS_BF16_TILES ? TileType::BF16 : TileType::F32};
  return table;
}

}  // namespace gyre::attention::cpu::GYRE_ISA
