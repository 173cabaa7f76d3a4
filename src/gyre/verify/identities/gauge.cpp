// Translation gauge: sum_i [(q~ x dq~)_m + (k~ x dk~)_m] = 0 for every pair, so the frequency
// gradient does not depend on where positions start.
#include "gyre/verify/identities/gradient_terms.h"

namespace gyre::verify {
namespace {

CheckResult run(const Subject& subject) {
  Tally tally;
  double size = 0.0;
  const GradientProblem here = gradient_problem("gauge", 33, 16, 0);
  const GradientProblem there = gradient_problem("gauge", 33, 16, 30000);
  const Differentiated a = differentiate(subject, here.raw, here.weight, here.positions, here.plan);
  const Differentiated b =
      differentiate(subject, there.raw, there.weight, there.positions, there.plan);
  for (int64_t m = 0; m < 8; ++m) {
    double sum = 0.0, plain = 0.0;
    for (int64_t t = 0; t < 33; ++t) {
      for (const auto& [x, g] : {std::pair(&a.q, &a.q_grad), std::pair(&a.k, &a.k_grad)}) {
        const double cross =
            x->at(0, 0, t, m) * g->at(0, 0, t, m + 8) - x->at(0, 0, t, m + 8) * g->at(0, 0, t, m);
        sum += cross;
        plain += std::abs(cross);
      }
    }
    tally.at_most(std::abs(sum), 1e-13, "pair ", m);
    size = std::max(size, plain);
    // The same gradient from origin 30000: rounding of the gauge sum times the origin.
    const auto at = static_cast<size_t>(m);
    tally.at_most(std::abs(a.theta[at] - b.theta[at]), 1e-9, "origin 0 and 30000, pair ", m);
  }
  tally.at_least(size, 0.01, "the terms themselves are not zero");
  return tally.result(str("terms of size ", size, " cancel"));
}

}  // namespace

Identity gauge() {
  return {"gauge", "P14, L12", "The frequency gradient does not depend on the origin",
          "docs/schemes.md, translation gauge; 1e-13: 66 terms in float64, times 30000 for the "
          "shifted origin",
          run};
}

}  // namespace gyre::verify
