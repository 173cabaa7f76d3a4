// Vectors for sources named *_isa.cpp, at the width of the level they are compiled for. Everything
// lives in that level's namespace. Built on the compilers' vector extension, so one text serves
// SSE2, AVX2, AVX-512 and NEON; intrinsics only where the extension has no word for it.
#pragma once

#include <cstdint>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define GYRE_INLINE inline __attribute__((always_inline))

namespace gyre::GYRE_ISA {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#elif defined(__AVX2__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif

/// kLanes values of T; float unless something is computed in double.
template <class T>
struct VectorOf {
  typedef T type __attribute__((vector_size(sizeof(T) * kLanes), aligned(sizeof(T))));
};
template <class T>
using Vec = typename VectorOf<T>::type;
using Floats = Vec<float>;
using Ints = Vec<int32_t>;

/// bfloat16 by its bits.
struct BFloat {
  uint16_t bits;
};

template <class T>
GYRE_INLINE Vec<T> splat(T x) {
  return x - Vec<T>{};
}

GYRE_INLINE Floats load(const float* p) {
  Floats v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
GYRE_INLINE Vec<double> load(const double* p) {
  Vec<double> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
GYRE_INLINE Floats load(const BFloat* p) {
  typedef uint16_t Halfs __attribute__((vector_size(2 * kLanes)));
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  Halfs h;
  __builtin_memcpy(&h, p, sizeof h);
  return (Floats)(__builtin_convertvector(h, Words) << 16);
}

GYRE_INLINE void store(float* p, Floats v) {
  __builtin_memcpy(p, &v, sizeof v);
}
GYRE_INLINE void store(double* p, Vec<double> v) {
  __builtin_memcpy(p, &v, sizeof v);
}
/// Round to nearest even; a NaN stays one.
GYRE_INLINE void store(BFloat* p, Floats v) {
#if defined(__AVX512BF16__)
  const __m256bh h = _mm512_cvtneps_pbh((__m512)v);
  __builtin_memcpy(p, &h, sizeof h);
#else
  typedef uint16_t Halfs __attribute__((vector_size(2 * kLanes)));
  typedef uint32_t Words __attribute__((vector_size(4 * kLanes)));
  const Words bits = (Words)v;
  const Words rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  const Words kept = (v != v) ? (bits | 0x400000U) : rounded;
  const Halfs h = __builtin_convertvector(kept >> 16, Halfs);
  __builtin_memcpy(p, &h, sizeof h);
#endif
}

// Scalars, for tails.
GYRE_INLINE float scalar(float x) {
  return x;
}
GYRE_INLINE double scalar(double x) {
  return x;
}
GYRE_INLINE float scalar(BFloat x) {
  const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
  float f;
  __builtin_memcpy(&f, &bits, sizeof f);
  return f;
}
GYRE_INLINE void put(float* p, float x) {
  *p = x;
}
GYRE_INLINE void put(double* p, double x) {
  *p = x;
}
GYRE_INLINE void put(BFloat* p, float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const uint32_t rounded = bits + 0x7FFFU + ((bits >> 16) & 1U);
  p->bits = static_cast<uint16_t>((x != x ? (bits | 0x400000U) : rounded) >> 16);
}

/// A product that is rounded before it meets a sum: the compiler may not join the two operations,
/// so that x * y - x * y is 0.
GYRE_INLINE Floats rounded(Floats product) {
#if defined(__AVX512F__)
  __asm__("" : "+v"(product));
#elif defined(__x86_64__)
  __asm__("" : "+x"(product));
#elif defined(__aarch64__)
  __asm__("" : "+w"(product));
#endif
  return product;
}
GYRE_INLINE Vec<double> rounded(Vec<double> product) {
  return product;
}

template <class V>
GYRE_INLINE V larger(V a, V b) {
  return a > b ? a : b;
}

template <class T>
GYRE_INLINE T sum_of(Vec<T> v) {
  T out = v[0];
  for (int i = 1; i < kLanes; ++i) {
    out += v[i];
  }
  return out;
}
template <class T>
GYRE_INLINE T largest_of(Vec<T> v) {
  T out = v[0];
  for (int i = 1; i < kLanes; ++i) {
    out = v[i] > out ? v[i] : out;
  }
  return out;
}
#if defined(__AVX512F__)
template <>
GYRE_INLINE float sum_of<float>(Floats v) {
  return _mm512_reduce_add_ps((__m512)v);
}
template <>
GYRE_INLINE float largest_of<float>(Floats v) {
  return _mm512_reduce_max_ps((__m512)v);
}
#endif

/// 2^x: relative error below 2e-7; exactly 0 below -125 (and for -inf);
/// NaN stays NaN.
GYRE_INLINE Floats exp2_of(Floats x) {
#if defined(__AVX512F__)
  const Floats low = (Floats)_mm512_max_ps(_mm512_set1_ps(-126.0F), (__m512)x);
  const Floats n = (Floats)_mm512_roundscale_ps((__m512)low, 8);
#else
  const Floats low = x < -126.0F ? splat(-126.0F) : x;
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it rounds to whole numbers
  const Floats n = (low + kRound) - kRound;
#endif
  const Floats f = low - n;  // -0.5 .. 0.5
  // Taylor terms ln(2)^k / k!
  Floats y = splat(1.5252734e-5F);
  y = y * f + 1.5403530e-4F;
  y = y * f + 1.3333558e-3F;
  y = y * f + 9.6181291e-3F;
  y = y * f + 5.5504109e-2F;
  y = y * f + 2.4022651e-1F;
  y = y * f + 6.9314718e-1F;
  y = y * f + 1.0F;
#if defined(__AVX512F__)
  const __m512 scaled = _mm512_scalef_ps((__m512)y, (__m512)n);
  return (Floats)_mm512_maskz_mov_ps(
      _mm512_cmp_ps_mask((__m512)x, _mm512_set1_ps(-125.0F), _CMP_NLT_UQ), scaled);
#else
  const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
  const Floats scaled = y * (Floats)exponent;
  return x < -125.0F ? Floats{} : scaled;
#endif
}
/// tanh: a few units in the last place.
GYRE_INLINE Floats tanh_of(Floats x) {
  const Floats size = x < Floats{} ? -x : x, z = x * x;
  // Odd polynomial near 0, where 1 - 2 / (e^2x + 1) would cancel; its terms fit tanh on [0, 0.625]
  // (Moshier, Cephes, tanhf).
  Floats y = splat(-5.70498872745e-3F);
  y = y * z + 2.06390887954e-2F;
  y = y * z - 5.37397155531e-2F;
  y = y * z + 1.33314422036e-1F;
  y = y * z - 3.33332819422e-1F;
  const Floats near = x + x * z * y;
  const Floats capped = size > 40.0F ? splat(40.0F) : size;
  const Floats far = 1.0F - 2.0F / (exp2_of(capped * 2.88539008F) + 1.0F);
  return size < 0.625F ? near : (x < Floats{} ? -far : far);
}
GYRE_INLINE Vec<double> tanh_of(Vec<double> x) {
  Vec<double> out;
  for (int i = 0; i < kLanes; ++i) {
    out[i] = __builtin_tanh(x[i]);
  }
  return out;
}

/// For exact work, not for speed.
GYRE_INLINE Vec<double> exp2_of(Vec<double> x) {
  Vec<double> out;
  for (int i = 0; i < kLanes; ++i) {
    out[i] = __builtin_exp2(x[i]);
  }
  return out;
}

/// How much of a vector lies inside a row: all of it, or the first n lanes.
struct Whole {};
struct Part {
  int64_t n;
};
template <class T>
GYRE_INLINE auto load(const T* p, Whole /*part*/) {
  return load(p);
}
/// Lanes past the part are 0.
template <class T>
GYRE_INLINE auto load(const T* p, Part part) {
  T row[kLanes] = {};
  __builtin_memcpy(row, p, static_cast<uint64_t>(part.n) * sizeof(T));
  return load(row);
}
template <class T, class V>
GYRE_INLINE void store(T* p, V v, Whole /*part*/) {
  store(p, v);
}
template <class T, class V>
GYRE_INLINE void store(T* p, V v, Part part) {
  T row[kLanes];
  store(row, v);
  __builtin_memcpy(p, row, static_cast<uint64_t>(part.n) * sizeof(T));
}
/// Lanes past the part become `fill`, so that a sum or maximum over the vector is that of the part.
template <class V, class T>
GYRE_INLINE V padded(V v, Whole /*part*/, T /*fill*/) {
  return v;
}
template <class V, class T>
GYRE_INLINE V padded(V v, Part part, T fill) {
  for (int64_t i = part.n; i < kLanes; ++i) {
    v[i] = fill;
  }
  return v;
}
/// f(i, part) for each vector of a row of n values.
template <class F>
GYRE_INLINE void for_vectors(int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    f(i, Whole{});
  }
  if (i < n) {
    f(i, Part{n - i});
  }
}

/// Type of sums over T: double for double, else float.
template <class T>
struct WideOf {
  using type = float;
};
template <>
struct WideOf<double> {
  using type = double;
};
template <class T>
using Wide = typename WideOf<T>::type;

}  // namespace gyre::GYRE_ISA
