// The surrogate P_m: the real part of the DTFT of the offset-gathered gradient signal. Its slope at
// theta_m is the gradient of the loss; this identity takes that slope by differences of P_m, and of
// the loss by the subject's own backward.
#include <complex>

#include "gyre/verify/identities/gradient_terms.h"

namespace gyre::verify {
namespace {

// Fifth-order central difference of P_m; step chosen for float64.
double slope(const std::vector<std::complex<double>>& signal, double x) {
  constexpr double kStep = 1e-3;
  const auto p = [&](double n) { return surrogate(signal, x + n * kStep); };
  return (45.0 * (p(1) - p(-1)) - 9.0 * (p(2) - p(-2)) + (p(3) - p(-3))) / (60.0 * kStep);
}

CheckResult run(const Subject& subject) {
  const GradientProblem p = gradient_problem("surrogate", 25, 12, 0);
  const Differentiated d = differentiate(subject, p.raw, p.weight, p.positions, p.plan);
  const auto signal = gathered_signal(p);
  Tally tally;
  std::vector<Curve> curves;
  for (size_t m = 0; m < signal.size(); ++m) {
    const double theta = p.plan.layers[0].inv_freq[0][m];
    tally.at_most(std::abs(surrogate_derivative(signal[m], theta) - d.theta[m]), 1e-10,
                  "closed derivative, pair ", m);
    tally.at_most(std::abs(slope(signal[m], theta) - d.theta[m]), 1e-8, "difference of P, pair ",
                  m);
    if (m < 2) {
      Curve curve{str("surrogate of pair ", m, ", theta ", theta),
                  "frequency, rad per token",
                  "P_m",
                  {},
                  {}};
      for (int64_t i = 0; i <= 314; ++i) {
        curve.x.push_back(static_cast<double>(i) / 100.0);
        curve.y.push_back(surrogate(signal[m], curve.x.back()));
      }
      curves.push_back(std::move(curve));
    }
  }
  return tally.result("25 tokens, 6 pairs: P_m'(theta_m) = dL/dtheta_m", curves);
}

}  // namespace

Identity surrogate_slope() {
  return {
      "surrogate-slope", "L13", "Slope of the surrogate spectrum = frequency gradient",
      "Karypis et al. 2026, arXiv:2607.10134, as derived in docs/schemes.md; 1e-10 closed form, "
      "1e-8 differences: claim L13",
      run};
}

}  // namespace gyre::verify
