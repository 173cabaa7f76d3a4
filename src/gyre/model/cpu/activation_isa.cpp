// Kernels of the MLP's activations, forward and backward in one pass over the rows each.
// Tricks: float inside whatever the type outside; one exponential per value (curves_isa.h).
#include "gyre/base/simd.h"
#include "gyre/model/cpu/activation.h"
#include "gyre/model/cpu/curves_isa.h"

namespace gyre::GYRE_ISA {
namespace {

using model::cpu::ActivationRows;

constexpr bool kGated = true;

template <class Curve, bool gated, class T>
void forward(const ActivationRows& p, int64_t begin, int64_t end) {
  using W = Wide<T>;
  for (int64_t r = begin; r < end; ++r) {
    const T* gate = static_cast<const T*>(p.up) + r * p.F * (gated ? 2 : 1);
    T* out = static_cast<T*>(p.out) + r * p.F;
    for_vectors(p.F, [&](int64_t f, auto part) {
      const Vec<W> x = load(gate + f, part);
      Vec<W> y = x * Curve::template step<W>(x).value;
      if constexpr (gated) {
        y *= load(gate + p.F + f, part);
      }
      store(out + f, y, part);
    });
  }
}

template <class Curve, bool gated, class T>
void backward(const ActivationRows& p, int64_t begin, int64_t end) {
  using W = Wide<T>;
  for (int64_t r = begin; r < end; ++r) {
    const int64_t row = r * p.F * (gated ? 2 : 1);
    const T *gate = static_cast<const T*>(p.up) + row,
            *dout = static_cast<const T*>(p.dout) + r * p.F;
    T* dgate = static_cast<T*>(p.dup) + row;
    for_vectors(p.F, [&](int64_t f, auto part) {
      const Vec<W> x = load(gate + f, part);
      Vec<W> d = load(dout + f, part);
      const Step<W> s = Curve::template step<W>(x);
      if constexpr (gated) {
        store(dgate + p.F + f, d * x * s.value, part);
        d *= load(gate + p.F + f, part);
      }
      store(dgate + f, d * (s.value + x * s.slope), part);
    });
  }
}

}  // namespace

const model::cpu::ActivationTable& activation_kernels() {
#define GYRE_CURVE(pass, curve, gated) \
  { pass<curve, gated, float>, pass<curve, gated, BFloat>, pass<curve, gated, double> }
  static constexpr model::cpu::ActivationTable kTable = {
      {GYRE_CURVE(forward, Silu, kGated), GYRE_CURVE(forward, GeluTanh, kGated),
       GYRE_CURVE(forward, Gelu, !kGated)},
      {GYRE_CURVE(backward, Silu, kGated), GYRE_CURVE(backward, GeluTanh, kGated),
       GYRE_CURVE(backward, Gelu, !kGated)}};
#undef GYRE_CURVE
  return kTable;
}

}  // namespace gyre::GYRE_ISA
