// Row kernels of the rotation. Tricks: one copy of the row, then only the pairs that turn; bfloat16
// converted by integer shifts so that the loops vectorise; one clone per instruction set.
#include <bit>
#include <cmath>
#include <cstring>

#include "gyre/attention/params.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define GYRE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GYRE_CLONES
#endif
#define GYRE_INLINE inline __attribute__((always_inline))

namespace gyre::attention {
namespace {

struct BFloat {
  uint16_t bits;
};

GYRE_INLINE double load(double x) {
  return x;
}
GYRE_INLINE float load(float x) {
  return x;
}
GYRE_INLINE float load(BFloat x) {
  return std::bit_cast<float>(static_cast<uint32_t>(x.bits) << 16);
}

GYRE_INLINE void store(double* out, double x) {
  *out = x;
}
GYRE_INLINE void store(float* out, float x) {
  *out = x;
}
// Round to nearest even; a NaN keeps its top bits and stays one.
GYRE_INLINE void store(BFloat* out, float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  const bool nan = (bits & 0x7FFFFFFFU) > 0x7F800000U;
  out->bits = static_cast<uint16_t>((nan ? (bits | 0x400000U) : rounded) >> 16);
}

// T element type, A accumulate type; x and y channel of pair m: first + stride * m.
template <class T, class A, int64_t kStride>
GYRE_INLINE void turn(const T* __restrict in, T* __restrict out, const A* __restrict cos,
                      const A* __restrict sin, int64_t begin, int64_t end, int64_t second,
                      A direction) {
  for (int64_t m = begin; m < end; ++m) {
    const A x = load(in[kStride * m]), y = load(in[kStride * m + second]);
    const A c = cos[m], s = direction * sin[m];
    store(out + kStride * m, x * c - y * s);
    store(out + kStride * m + second, x * s + y * c);
  }
}

template <class T, class A>
GYRE_INLINE void rotate_all(const Rows& rows) {
  const auto* in = static_cast<const T*>(rows.in);
  auto* out = static_cast<T*>(rows.out);
  const auto* cos = static_cast<const A*>(rows.cos);
  const auto* sin = static_cast<const A*>(rows.sin);
  const A direction = static_cast<A>(rows.direction);
  for (int64_t t = 0; t < rows.n_rows; ++t) {
    std::memcpy(out, in, static_cast<size_t>(rows.head_dim) * sizeof(T));
    for (const auto& [begin, end] : *rows.runs) {
      if (rows.interleaved) {
        turn<T, A, 2>(in, out, cos, sin, begin, end, 1, direction);
      } else {
        turn<T, A, 1>(in, out, cos, sin, begin, end, rows.n_pairs, direction);
      }
    }
    in += rows.in_step;
    out += rows.out_step;
    cos += rows.n_pairs;
    sin += rows.n_pairs;
  }
}

template <class T, class A, int64_t kStride>
GYRE_INLINE void cross_row(const T* __restrict a, const T* __restrict b, int64_t n_pairs,
                           int64_t second, double position, double* __restrict weighted) {
  for (int64_t m = 0; m < n_pairs; ++m) {
    const A ax = load(a[kStride * m]), ay = load(a[kStride * m + second]);
    const A bx = load(b[kStride * m]), by = load(b[kStride * m + second]);
    weighted[m] += position * static_cast<double>(ax * by - ay * bx);
  }
}

template <class T, class A>
GYRE_INLINE void cross_all(const CrossRows& rows) {
  const auto* a = static_cast<const T*>(rows.rotated);
  const auto* b = static_cast<const T*>(rows.grad);
  for (int64_t t = 0; t < rows.n_rows; ++t) {
    const auto position = static_cast<double>(rows.positions[t]);
    if (rows.interleaved) {
      cross_row<T, A, 2>(a, b, rows.n_pairs, 1, position, rows.weighted);
    } else {
      cross_row<T, A, 1>(a, b, rows.n_pairs, rows.n_pairs, position, rows.weighted);
    }
    a += rows.rotated_step;
    b += rows.grad_step;
  }
}

// The sums of the gauge check (debug builds only): not tuned.
template <class T>
void gauge_all(const CrossRows& rows) {
  const auto* a = static_cast<const T*>(rows.rotated);
  const auto* b = static_cast<const T*>(rows.grad);
  for (int64_t t = 0; t < rows.n_rows; ++t) {
    for (int64_t m = 0; m < rows.n_pairs; ++m) {
      const int64_t x = rows.interleaved ? 2 * m : m;
      const int64_t y = rows.interleaved ? 2 * m + 1 : m + rows.n_pairs;
      const double ax = load(a[x]), ay = load(a[y]), bx = load(b[x]), by = load(b[y]);
      rows.plain[m] += ax * by - ay * bx;
      rows.magnitude[m] += std::sqrt((ax * ax + ay * ay) * (bx * bx + by * by));
    }
    a += rows.rotated_step;
    b += rows.grad_step;
  }
}

GYRE_CLONES void rotate_f64(const Rows& rows) {
  rotate_all<double, double>(rows);
}
GYRE_CLONES void rotate_f32(const Rows& rows) {
  rotate_all<float, float>(rows);
}
GYRE_CLONES void rotate_bf16(const Rows& rows) {
  rotate_all<BFloat, float>(rows);
}
GYRE_CLONES void cross_f64(const CrossRows& rows) {
  cross_all<double, double>(rows);
}
GYRE_CLONES void cross_f32(const CrossRows& rows) {
  cross_all<float, float>(rows);
}
GYRE_CLONES void cross_bf16(const CrossRows& rows) {
  cross_all<BFloat, float>(rows);
}

}  // namespace

void rotate_rows(Element type, const Rows& rows) {
  switch (type) {
    case Element::F64:
      return rotate_f64(rows);
    case Element::F32:
      return rotate_f32(rows);
    case Element::BF16:
      return rotate_bf16(rows);
  }
}

void cross_rows(Element type, const CrossRows& rows) {
  switch (type) {
    case Element::F64:
      cross_f64(rows);
      return rows.plain ? gauge_all<double>(rows) : void();
    case Element::F32:
      cross_f32(rows);
      return rows.plain ? gauge_all<float>(rows) : void();
    case Element::BF16:
      cross_bf16(rows);
      return rows.plain ? gauge_all<BFloat>(rows) : void();
  }
}

}  // namespace gyre::attention
