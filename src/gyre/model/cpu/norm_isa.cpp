// Kernels of RMS and layer norm, with the residual sum before them.
// Tricks: sum, statistics and scaling of a row while it is in the first-level cache, so the stream
// is read and written once; backward adds the residual's gradient and writes it in both types.
#include "gyre/base/simd.h"
#include "gyre/model/cpu/norm.h"

namespace gyre::GYRE_ISA {
namespace {

using model::cpu::NormBackward;
using model::cpu::NormForward;

template <class T>
GYRE_INLINE const T* row_of(const void* base, int64_t row, int64_t n_inner, int64_t outer,
                            int64_t inner) {
  return static_cast<const T*>(base) + (row / n_inner) * outer + (row % n_inner) * inner;
}
template <class T>
GYRE_INLINE T* at(void* base, int64_t offset) {
  return base == nullptr ? nullptr : static_cast<T*>(base) + offset;
}
template <class T>
GYRE_INLINE const T* at(const void* base, int64_t offset) {
  return base == nullptr ? nullptr : static_cast<const T*>(base) + offset;
}

template <class X, class N>
GYRE_INLINE void add_row(const X* x, const N* delta, X* y, int64_t C) {
  for_vectors(C, [&](int64_t c, auto part) {
    store(y + c, load(x + c, part) + load(delta + c, part), part);
  });
}

template <class X>
GYRE_INLINE Wide<X> mean_of(const X* y, int64_t C) {
  Vec<Wide<X>> sum{};
  for_vectors(C, [&](int64_t c, auto part) { sum += load(y + c, part); });
  return sum_of<Wide<X>>(sum) / static_cast<Wide<X>>(C);
}

template <class X>
GYRE_INLINE Wide<X> mean_square(const X* y, Wide<X> mean, int64_t C) {
  using W = Wide<X>;
  Vec<W> sum{};
  for_vectors(C, [&](int64_t c, auto part) {
    const Vec<W> v = padded(load(y + c, part) - mean, part, W{0});
    sum += v * v;
  });
  return sum_of<W>(sum) / static_cast<W>(C);
}

template <class X, class N>
void forward(const NormForward& p, int64_t begin, int64_t end) {
  using W = Wide<X>;
  const W *weight = at<W>(p.weight, 0), *bias = at<W>(p.bias, 0);
  const int64_t C = p.C;
  for (int64_t r = begin; r < end; ++r) {
    const X* y = row_of<X>(p.x, r, p.n_inner, p.x_outer, p.x_inner);
    if (p.delta != nullptr) {
      X* sum = at<X>(p.y, r * C);
      add_row(y, at<N>(p.delta, r * C), sum, C);
      y = sum;
    }
    const W mean = p.mean == nullptr ? W{0} : mean_of(y, C);
    const W variance = mean_square(y, mean, C) + static_cast<W>(p.eps);
    const W rstd = static_cast<W>(1.0 / __builtin_sqrt(static_cast<double>(variance)));
    N* n = at<N>(p.n, r * C);
    for_vectors(C, [&](int64_t c, auto part) {
      Vec<W> out = (load(y + c, part) - mean) * rstd * load(weight + c, part);
      if (bias != nullptr) {
        out += load(bias + c, part);
      }
      store(n + c, out, part);
    });
    *at<W>(p.rstd, r) = rstd;
    if (p.mean != nullptr) {
      *at<W>(p.mean, r) = mean;
    }
  }
}

/// What one row's gradient needs of the whole row: means of g and of g * y_hat, g = dn * weight.
template <class W>
struct RowSums {
  W g, gy;
};

/// Also adds the row's share of the weight's and bias' gradient.
template <class X, class N>
GYRE_INLINE RowSums<Wide<X>> sums_of(const NormBackward& p, const X* y, const N* dn, Wide<X> mean,
                                     Wide<X> rstd) {
  using W = Wide<X>;
  const W* weight = at<W>(p.weight, 0);
  W *dweight = at<W>(p.dweight, p.block * p.C), *dbias = at<W>(p.dbias, p.block * p.C);
  Vec<W> sum_g{}, sum_gy{};
  for_vectors(p.C, [&](int64_t c, auto part) {
    const Vec<W> d = load(dn + c, part);
    const Vec<W> y_hat = (load(y + c, part) - mean) * rstd;
    const Vec<W> g = rounded(d * load(weight + c, part));  // 0 past the row's end, like d
    sum_g += g;
    sum_gy += g * y_hat;
    store(dweight + c, load(dweight + c, part) + d * y_hat, part);
    if (dbias != nullptr) {
      store(dbias + c, load(dbias + c, part) + d, part);
    }
  });
  const W scale = W{1} / static_cast<W>(p.C);
  return {p.mean == nullptr ? W{0} : sum_of<W>(sum_g) * scale, sum_of<W>(sum_gy) * scale};
}

template <class X, class N>
void backward(const NormBackward& p, int64_t begin, int64_t end) {
  using W = Wide<X>;
  const W* weight = at<W>(p.weight, 0);
  for (int64_t r = begin; r < end; ++r) {
    const X* y = row_of<X>(p.y, r, p.n_inner, p.y_outer, p.y_inner);
    const N* dn = at<N>(p.dn, r * p.C);
    const X* dy = at<X>(p.dy, r * p.C);
    const W mean = p.mean == nullptr ? W{0} : *at<W>(p.mean, r), rstd = *at<W>(p.rstd, r);
    const RowSums<W> sums = sums_of(p, y, dn, mean, rstd);
    X* dx = at<X>(p.dx, r * p.C);
    N* ddelta = at<N>(p.ddelta, r * p.C);
    // RMS norm of one channel: g - y_hat (g y_hat) is all rounding, but 1 - y_hat^2 = eps rstd^2.
    const bool single = p.C == 1 && p.mean == nullptr;
    const W rest = static_cast<W>(p.eps) * rstd * rstd;
    for_vectors(p.C, [&](int64_t c, auto part) {
      const Vec<W> g = rounded(load(dn + c, part) * load(weight + c, part));
      const Vec<W> y_hat = (load(y + c, part) - mean) * rstd;
      Vec<W> d = (single ? g * rest : g - sums.g - y_hat * sums.gy) * rstd;
      if (dy != nullptr) {
        d += load(dy + c, part);
      }
      store(dx + c, d, part);
      if (ddelta != nullptr) {
        store(ddelta + c, d, part);
      }
    });
  }
}

}  // namespace

const model::cpu::NormTable& norm_kernels() {
  static constexpr model::cpu::NormTable kTable = {
      {forward<float, float>, forward<float, BFloat>, forward<BFloat, BFloat>,
       forward<double, double>},
      {backward<float, float>, backward<float, BFloat>, backward<BFloat, BFloat>,
       backward<double, double>}};
  return kTable;
}

}  // namespace gyre::GYRE_ISA
