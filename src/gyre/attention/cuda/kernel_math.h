// What each CUDA thread does, as functions of its place in the grid that a host compiler takes too:
// kernels.cu calls them from kernels, emulation_test.cpp from loops, so index arithmetic is tested
// where no GPU is.
//
// Tricks: 16 bytes per load where strides and pointers allow; one read of the gradients for the
// unrotation and the frequency sums; sums in double, first per thread over its rows, then per
// block, then over blocks, always in the same order, so that equal runs give equal bits.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "gyre/attention/cuda/kernel_args.h"

namespace gyre::attention::cuda {

struct BFloat {
  uint16_t bits;
};

GYRE_HD double widen(double x) {
  return x;
}
GYRE_HD float widen(float x) {
  return x;
}
GYRE_HD float widen(BFloat x) {
  const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float out;
  memcpy(&out, &bits, sizeof out);
  return out;
}

GYRE_HD void narrow(double x, double* out) {
  *out = x;
}
GYRE_HD void narrow(float x, float* out) {
  *out = x;
}
// Round to nearest even; a NaN keeps its top bits and stays one.
GYRE_HD void narrow(float x, BFloat* out) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  out->bits = static_cast<uint16_t>((nan ? (bits | 0x400000U) : rounded) >> 16);
}

/// V elements that one thread moves at once; alignment makes it one load.
template <class T, int V>
struct alignas(sizeof(T) * V) Pack {
  T at[V];
};

template <class T, int V>
GYRE_HD Pack<T, V> load(const T* from) {
  return *reinterpret_cast<const Pack<T, V>*>(from);
}
template <class T, int V>
GYRE_HD void store(const Pack<T, V>& pack, T* to) {
  *reinterpret_cast<Pack<T, V>*>(to) = pack;
}

/// V pairs: x and y channels.
template <class T, int V>
struct Pairs {
  Pack<T, V> x, y;
};

//   halves, P = 4:  x0 x1 x2 x3 y0 y1 y2 y3      interleaved:  x0 y0 x1 y1 x2 y2 x3 y3
template <class T, int V>
GYRE_HD Pairs<T, V> load_pairs(const T* row, int64_t m, int64_t n_pairs, bool interleaved) {
  if (!interleaved) {
    return {load<T, V>(row + m), load<T, V>(row + n_pairs + m)};
  }
  const Pack<T, V> a = load<T, V>(row + 2 * m), b = load<T, V>(row + 2 * m + V);
  Pairs<T, V> out;
  for (int i = 0; i < V; ++i) {
    out.x.at[i] = 2 * i < V ? a.at[(2 * i) % V] : b.at[(2 * i) % V];
    out.y.at[i] = 2 * i + 1 < V ? a.at[(2 * i + 1) % V] : b.at[(2 * i + 1) % V];
  }
  return out;
}

template <class T, int V>
GYRE_HD void store_pairs(const Pairs<T, V>& pairs, T* row, int64_t m, int64_t n_pairs,
                         bool interleaved) {
  if (!interleaved) {
    store<T, V>(pairs.x, row + m);
    store<T, V>(pairs.y, row + n_pairs + m);
    return;
  }
  Pack<T, V> a, b;
  for (int i = 0; i < V; ++i) {
    const T first = i % 2 == 0 ? pairs.x.at[i / 2] : pairs.y.at[i / 2];
    const int j = V + i;
    const T second = j % 2 == 0 ? pairs.x.at[j / 2] : pairs.y.at[j / 2];
    a.at[i] = first;
    b.at[i] = second;
  }
  store<T, V>(a, row + 2 * m);
  store<T, V>(b, row + 2 * m + V);
}

template <class T>
GYRE_HD T* row_of(const View& view, int64_t b, int64_t h, int64_t t) {
  return static_cast<T*>(view.data) + b * view.batch + h * view.head + t * view.token;
}

/// A row is cut into units of V pairs, then V copied channels.
GYRE_HD int64_t n_units(const Sizes& s, int v) {
  return s.n_pairs / v + (s.head_dim - 2 * s.n_pairs) / v;
}

GYRE_HD bool turns(const Turn& turn, int64_t g, int64_t m, int64_t n_pairs) {
  return turn.theta[g * n_pairs + m] != 0.0 || (turn.decay != nullptr && turn.decay[m] != 0.0);
}

/// Pair (x, y) turned by the table's angle times `direction`, times gain. One that does not turn is
/// multiplied by the gain alone, and kept bit for bit without one.
template <class T, class A, int V>
GYRE_HD Pairs<T, V> turn_pairs(const Pairs<T, V>& in, const Turn& turn, const Sizes& s, int64_t g,
                               int64_t t, int64_t m, A direction) {
  const int64_t place = (g * s.n_tokens + t) * s.n_pairs + m;
  const A* cos = static_cast<const A*>(turn.cos) + place;
  const A* sin = static_cast<const A*>(turn.sin) + place;
  const A gain = turn.gain == nullptr ? A(1) : static_cast<A>(turn.gain[t]);
  Pairs<T, V> out = in;
  for (int i = 0; i < V; ++i) {
    if (!turns(turn, g, m + i, s.n_pairs)) {
      if (turn.gain != nullptr) {
        narrow(gain * widen(in.x.at[i]), &out.x.at[i]);
        narrow(gain * widen(in.y.at[i]), &out.y.at[i]);
      }
      continue;
    }
    const A x = widen(in.x.at[i]), y = widen(in.y.at[i]);
    const A c = gain * cos[i], sn = gain * direction * sin[i];
    narrow(x * c - y * sn, &out.x.at[i]);
    narrow(x * sn + y * c, &out.y.at[i]);
  }
  return out;
}

/// Channels past 2P.
template <class T, class A, int V>
GYRE_HD void copy_unit(const T* in, T* out, const Turn& turn, int64_t t) {
  Pack<T, V> pack = load<T, V>(in);
  if (turn.gain != nullptr) {
    for (int i = 0; i < V; ++i) {
      narrow(static_cast<A>(turn.gain[t]) * widen(pack.at[i]), &pack.at[i]);
    }
  }
  store<T, V>(pack, out);
}

/// Unit `u` of row (b, h, t) of RotateArgs or UnrotateArgs.
template <class T, class A, int V>
GYRE_HD void turn_unit(const T* in, T* out, const Turn& turn, const Sizes& s, int64_t h, int64_t t,
                       int64_t u, A direction) {
  const int64_t pair_units = s.n_pairs / V;
  if (u >= pair_units) {
    const int64_t channel = 2 * s.n_pairs + (u - pair_units) * V;
    copy_unit<T, A, V>(in + channel, out + channel, turn, t);
    return;
  }
  const int64_t m = u * V, g = h * turn.n_groups / s.n_heads;
  const Pairs<T, V> pairs = load_pairs<T, V>(in, m, s.n_pairs, turn.interleaved);
  store_pairs<T, V>(turn_pairs<T, A, V>(pairs, turn, s, g, t, m, direction), out, m, s.n_pairs,
                    turn.interleaved);
}

/// Threads of rotate: one per (b, t, h, unit), units fastest, so that a warp reads whole rows.
template <class I>
GYRE_HD void place_of(const Sizes& s, int64_t units, int64_t index, int64_t at[4]) {
  const I n = static_cast<I>(index);
  const I u = static_cast<I>(units), heads = static_cast<I>(s.n_heads);
  const I row = n / u, token = row / heads;
  at[3] = static_cast<int64_t>(n % u);
  at[2] = static_cast<int64_t>(row % heads);
  at[1] = static_cast<int64_t>(token % static_cast<I>(s.n_tokens));
  at[0] = static_cast<int64_t>(token / static_cast<I>(s.n_tokens));
}

template <int V>
GYRE_HD int64_t rotate_threads(const Sizes& s) {
  return s.n_batch * s.n_tokens * s.n_heads * n_units(s, V);
}

template <class T, class A, int V>
GYRE_HD void rotate_thread(const RotateArgs& a, int64_t index) {
  const int64_t total = rotate_threads<V>(a.sizes);
  if (index >= total) {
    return;
  }
  int64_t at[4];
  if (total <= INT32_MAX) {  // 64-bit divisions cost more than the rest of the thread
    place_of<uint32_t>(a.sizes, n_units(a.sizes, V), index, at);
  } else {
    place_of<uint64_t>(a.sizes, n_units(a.sizes, V), index, at);
  }
  turn_unit<T, A, V>(row_of<T>(a.in, at[0], at[2], at[1]), row_of<T>(a.out, at[0], at[2], at[1]),
                     a.turn, a.sizes, at[2], at[1], at[3], A(1));
}

/// Block of unrotate: rows [chunk * kChunkRows, ...) of head h of sequence b. Its threads form a
/// grid of `width` units by `height` rows.
struct RowBlock {
  int64_t b, h, chunk;
  int width, height;
};

GYRE_HD RowBlock row_block(const Sizes& s, int64_t index, int width, int height) {
  const int64_t chunks = n_chunks(s.n_tokens);
  const int64_t head = index / chunks;
  return {head / s.n_heads, head % s.n_heads, index % chunks, width, height};
}

/// First half of a block: thread (x, y) turns its rows of unit `first_unit + x` back and leaves its
/// V sums in `shared`, [height][width][V].
template <class T, class A, int V>
GYRE_HD void unrotate_thread(const UnrotateArgs& a, const RowBlock& block, int64_t first_unit,
                             int x, int y, double* shared) {
  const Sizes& s = a.sizes;
  const int64_t u = first_unit + x, m = u * V;
  double sums[V] = {};
  const int64_t begin = block.chunk * kChunkRows;
  const int64_t end = begin + kChunkRows < s.n_tokens ? begin + kChunkRows : s.n_tokens;
  const bool sum = a.rotated.data != nullptr && m < s.n_pairs;
  for (int64_t t = begin + y; t < end && u < n_units(s, V); t += block.height) {
    const T* grad = row_of<T>(a.grad, block.b, block.h, t);
    if (sum) {
      const T* row = row_of<T>(a.rotated, block.b, block.h, t);
      const Pairs<T, V> r = load_pairs<T, V>(row, m, s.n_pairs, a.turn.interleaved);
      const Pairs<T, V> g = load_pairs<T, V>(grad, m, s.n_pairs, a.turn.interleaved);
      const auto position = static_cast<double>(a.positions[t]);
      for (int i = 0; i < V; ++i) {
        const A rx = widen(r.x.at[i]), ry = widen(r.y.at[i]);
        const A gx = widen(g.x.at[i]), gy = widen(g.y.at[i]);
        sums[i] += position * static_cast<double>(rx * gy - ry * gx);
      }
    }
    turn_unit<T, A, V>(grad, row_of<T>(a.out, block.b, block.h, t), a.turn, s, block.h, t, u,
                       A(-1));
  }
  if (a.rotated.data != nullptr) {
    for (int i = 0; i < V; ++i) {
      shared[(y * block.width + x) * V + i] = sums[i];
    }
  }
}

/// Second half, after all threads did the first: thread (x, 0) adds up its column.
template <int V>
GYRE_HD void unrotate_column(const UnrotateArgs& a, const RowBlock& block, int64_t first_unit,
                             int x, const double* shared) {
  const Sizes& s = a.sizes;
  const int64_t m = (first_unit + x) * V;
  if (a.rotated.data == nullptr || m >= s.n_pairs) {
    return;
  }
  double* out = a.partial +
                ((block.b * n_chunks(s.n_tokens) + block.chunk) * s.n_heads + block.h) * s.n_pairs +
                m;
  for (int i = 0; i < V; ++i) {
    double total = 0.0;
    for (int y = 0; y < block.height; ++y) {
      total += shared[(y * block.width + x) * V + i];
    }
    out[i] = total;
  }
}

constexpr int kReduceThreads = 256;

/// Block (g, m) of reduce: thread `i` of kReduceThreads sums every kReduceThreads-th item.
GYRE_HD double reduce_thread(const ReduceArgs& a, int64_t block, int i) {
  const int64_t g = block / a.n_pairs, m = block % a.n_pairs;
  const int64_t per_group = a.n_heads / a.n_groups, items = a.n_blocks * per_group;
  double total = 0.0;
  for (int64_t item = i; item < items; item += kReduceThreads) {
    const int64_t h = g * per_group + item % per_group;
    total += a.partial[(item / per_group * a.n_heads + h) * a.n_pairs + m];
  }
  return total;
}

/// One halving of the tree: thread `i` < step adds its partner's sum.
GYRE_HD void reduce_step(double* shared, int i, int step) {
  if (i < step) {
    shared[i] += shared[i + step];
  }
}

GYRE_HD void reduce_store(const ReduceArgs& a, int64_t block, double total) {
  a.out[block] = a.add ? a.out[block] + total : total;
}

/// Element (g, t, m) of a table.
template <class A>
GYRE_HD void table_thread(const TableArgs& a, int64_t index) {
  if (index >= a.n_groups * a.n_tokens * a.n_pairs) {
    return;
  }
  const int64_t m = index % a.n_pairs, row = index / a.n_pairs;
  const double theta = a.theta[row / a.n_tokens * a.n_pairs + m];
  const auto position = static_cast<double>(a.positions[row % a.n_tokens]);
  // The rounding error of the product, 1e-10 rad at position 10^6, is put back to first order.
  const double angle = position * theta, rest = fma(position, theta, -angle);
  const double c = cos(angle), s = sin(angle);
  const double amplitude = theta == 0.0 ? 1.0 : a.amplitude;  // a pair that does not turn is kept
  static_cast<A*>(a.cos)[index] = static_cast<A>(amplitude * (c - rest * s));
  static_cast<A*>(a.sin)[index] = static_cast<A>(amplitude * (s + rest * c));
}

// --- Launch shapes, on the host ---

constexpr int kThreads = 256;

/// Threads across a row and rows at once of an unrotate block: width * height <= kThreads.
struct BlockShape {
  int width, height;
};
inline BlockShape block_shape(int64_t units) {
  int width = 1;
  while (width < units && width < 32) {
    width *= 2;
  }
  return {width, kThreads / width};
}

inline bool fits(const View& view, int64_t v, int64_t bytes) {
  return view.data == nullptr ||
         (reinterpret_cast<uintptr_t>(view.data) % static_cast<uintptr_t>(v * bytes) == 0 &&
          view.batch % v == 0 && view.head % v == 0 && view.token % v == 0);
}

/// Whether v elements of `bytes` each can be moved at once everywhere.
inline bool vectorises(const Sizes& s, int64_t v, int64_t bytes, const View& a, const View& b,
                       const View& c) {
  return s.n_pairs % v == 0 && s.head_dim % v == 0 && fits(a, v, bytes) && fits(b, v, bytes) &&
         fits(c, v, bytes);
}

/// Calls f.template operator()<T, A, V>() for the element type and the widest usable V.
template <class F>
void with_types(Type type, const Sizes& s, const View& a, const View& b, const View& c, F f) {
  switch (type) {
    case Type::F64:
      return vectorises(s, 2, 8, a, b, c) ? f.template operator()<double, double, 2>()
                                          : f.template operator()<double, double, 1>();
    case Type::F32:
      return vectorises(s, 4, 4, a, b, c) ? f.template operator()<float, float, 4>()
                                          : f.template operator()<float, float, 1>();
    case Type::BF16:
      return vectorises(s, 8, 2, a, b, c) ? f.template operator()<BFloat, float, 8>()
                                          : f.template operator()<BFloat, float, 1>();
  }
}

}  // namespace gyre::attention::cuda
