// The functions of an MLP, for its own kernels and those that end in it. Both gelu forms and silu
// are x * s(x) with s a distribution function, so one text serves all three.
#pragma once

#include "gyre/base/simd.h"

namespace gyre::GYRE_ISA {

inline constexpr double kLog2E = 1.4426950408889634;

/// s(x) and its derivative.
template <class W>
struct Step {
  Vec<W> value, slope;
};

/// s = 1 / (1 + e^-z) and its derivative s (1 - s), with 1 - s taken as e^-z s: no cancellation
/// where s is near 1. The bound keeps 2^x finite; beyond it the result is 0 anyway.
template <class W>
GYRE_INLINE Step<W> logistic(Vec<W> z) {
  const Vec<W> power = z * static_cast<W>(-kLog2E);
  const Vec<W> e = exp2_of(power > W{126} ? splat(W{126}) : power);
  const Vec<W> s = W{1} / (W{1} + e);
  return {s, s * (e * s)};
}

struct Silu {
  template <class W>
  static GYRE_INLINE Step<W> step(Vec<W> x) {
    return logistic<W>(x);
  }
};

/// (1 + tanh z) / 2 is the logistic function of 2 z, z = sqrt(2 / pi) (x + 0.044715 x^3).
struct GeluTanh {
  template <class W>
  static GYRE_INLINE Step<W> step(Vec<W> x) {
    constexpr W kTwice = static_cast<W>(1.5957691216057308);  // 2 sqrt(2 / pi)
    constexpr W kCube = static_cast<W>(0.044715);
    const Vec<W> square = x * x;
    const Step<W> s = logistic<W>(kTwice * x * (W{1} + kCube * square));
    return {s.value, s.slope * kTwice * (W{1} + W{3} * kCube * square)};
  }
};

/// e^(-x^2 / 2) and the normal distribution function. Float: Abramowitz and Stegun 7.1.26, absolute
/// error below 1.5e-7 in the error function; double: the library's.
GYRE_INLINE Floats normal_cdf(Floats x, Floats bell) {
  const Floats size = larger(x, -x) * 0.70710678F;
  const Floats t = 1.0F / (1.0F + 0.3275911F * size);
  Floats y = t * 1.061405429F - 1.453152027F;
  y = y * t + 1.421413741F;
  y = y * t - 0.284496736F;
  y = y * t + 0.254829592F;
  const Floats upper = 0.5F * y * t * bell;  // 1 - cdf(|x|)
  return x < 0.0F ? upper : 1.0F - upper;
}
GYRE_INLINE Vec<double> normal_cdf(Vec<double> x, Vec<double> /*bell*/) {
  Vec<double> out;
  for (int i = 0; i < kLanes; ++i) {
    out[i] = 0.5 * __builtin_erfc(-x[i] * 0.70710678118654752);
  }
  return out;
}

struct Gelu {
  template <class W>
  static GYRE_INLINE Step<W> step(Vec<W> x) {
    const Vec<W> bell = exp2_of(x * x * static_cast<W>(-0.5 * kLog2E));
    return {normal_cdf(x, bell), bell * static_cast<W>(0.3989422804014327)};  // 1 / sqrt(2 pi)
  }
};

}  // namespace gyre::GYRE_ISA
