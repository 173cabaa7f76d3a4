// R_m^T R_n = R_(n-m) in every 2-D subspace, with matrices built explicitly and by complex numbers.
#include <complex>

#include "gyre/base/rng.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Matrix {
  double xx, xy, yx, yy;  // rows: x' = xx x + xy y
};

// The subject's rotation of pair m at token t as a matrix: it turns (1, 0) and (0, 1).
Matrix matrix_of(const Turned& turned, const position::PositionPlan& plan, int64_t t, int64_t m) {
  const int64_t x = x_channel(plan, m), y = y_channel(plan, m);
  return {turned.q.at(0, 0, t, x), turned.k.at(0, 0, t, x), turned.q.at(0, 0, t, y),
          turned.k.at(0, 0, t, y)};
}

Matrix transposed_times(const Matrix& a, const Matrix& b) {
  return {a.xx * b.xx + a.yx * b.yx, a.xx * b.xy + a.yx * b.yy, a.xy * b.xx + a.yy * b.yx,
          a.xy * b.xy + a.yy * b.yy};
}

double difference(const Matrix& a, const Matrix& b) {
  const double rows[] = {a.xx - b.xx, a.xy - b.xy, a.yx - b.yx, a.yy - b.yy};
  double worst = 0.0;
  for (const double one : rows) {
    worst = std::max(worst, std::abs(one));
  }
  return worst;
}

Turned unit_vectors(const position::PositionPlan& plan, int64_t n_tokens) {
  Turned units{zero_rows({1, 1, n_tokens, plan.head_dim}),
               zero_rows({1, 1, n_tokens, plan.head_dim})};
  for (int64_t t = 0; t < n_tokens; ++t) {
    for (int64_t m = 0; m < plan.n_pairs(); ++m) {
      units.q.at(0, 0, t, x_channel(plan, m)) = 1.0;
      units.k.at(0, 0, t, y_channel(plan, m)) = 1.0;
    }
  }
  return units;
}

void check_layout(const Subject& subject, position::PairLayout layout, Tally& tally) {
  constexpr int64_t kDim = 64, kDraws = 300;
  const auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim, layout);
  Rng rng(3, "rotation-composes");
  std::vector<int64_t> positions;  // m, n, n - m of each draw
  for (int64_t i = 0; i < kDraws; ++i) {
    const auto m = static_cast<int64_t>(rng.below(1000001));
    const auto n = static_cast<int64_t>(rng.below(1000001));
    positions.insert(positions.end(), {m, n, n - m});
  }
  const auto n_tokens = static_cast<int64_t>(positions.size());
  const Turned turned = rotated(subject, unit_vectors(plan, n_tokens), positions, plan);
  for (int64_t t = 0; t < n_tokens; t += 3) {
    const auto at = static_cast<size_t>(t);
    for (int64_t pair = 0; pair < plan.n_pairs(); ++pair) {
      const Matrix product =
          transposed_times(matrix_of(turned, plan, t, pair), matrix_of(turned, plan, t + 1, pair));
      const double theta = plan.layers[0].inv_freq[0][static_cast<size_t>(pair)];
      const std::complex<double> z(exact_cos(theta, positions[at + 2]),
                                   exact_sin(theta, positions[at + 2]));
      const Matrix complex{z.real(), -z.imag(), z.imag(), z.real()};
      const double worst = std::max(difference(product, matrix_of(turned, plan, t + 2, pair)),
                                    difference(product, complex));
      tally.at_most(worst, 1e-12, "m=", positions[at], " n=", positions[at + 1], " pair ", pair);
    }
  }
}

CheckResult run(const Subject& subject) {
  Tally tally;
  check_layout(subject, position::PairLayout::Halves, tally);
  check_layout(subject, position::PairLayout::Interleaved, tally);
  return tally.result(
      "300 draws of m, n up to 1e6, 32 pairs, both layouts; matrix product, own "
      "matrix and complex number agree");
}

}  // namespace

Identity rotation_composes() {
  return {"rotation-composes", "P02", "R_m^T R_n = R_(n-m) in every pair",
          "Su et al. 2021, eq. (16) and (34), arXiv:2104.09864; 1e-12: claim P02, 5000 eps", run};
}

}  // namespace gyre::verify
