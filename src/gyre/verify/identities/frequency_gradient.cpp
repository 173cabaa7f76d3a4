// dL/dtheta in three forms: gyre's backward, the sum over pairs (i, j), and the linear-cost form
// over rotated rows and their gradients.
#include "gyre/verify/identities/gradient_terms.h"

namespace gyre::verify {
namespace {

// sum_i pos_i [(q~ x dq~)_m + (k~ x dk~)_m]
double linear_form(const Differentiated& d, const std::vector<int64_t>& positions, int64_t m) {
  const auto cross = [m](const Rows& a, const Rows& b, int64_t t) {
    const int64_t y = m + a.head_dim / 2;
    return a.at(0, 0, t, m) * b.at(0, 0, t, y) - a.at(0, 0, t, y) * b.at(0, 0, t, m);
  };
  double sum = 0.0;
  for (size_t i = 0; i < positions.size(); ++i) {
    const auto t = static_cast<int64_t>(i);
    sum += static_cast<double>(positions[i]) * (cross(d.q, d.q_grad, t) + cross(d.k, d.k_grad, t));
  }
  return sum;
}

CheckResult run(const Subject& subject) {
  Tally tally;
  double largest = 0.0;
  for (const int64_t first : {int64_t{0}, int64_t{5}}) {
    const GradientProblem p = gradient_problem("frequency gradient", 33, 16, first);
    const Differentiated d = differentiate(subject, p.raw, p.weight, p.positions, p.plan);
    const auto signal = gathered_signal(p);
    for (int64_t m = 0; m < 8; ++m) {
      const auto at = static_cast<size_t>(m);
      const double theta = p.plan.layers[0].inv_freq[0][at];
      const double pairs = surrogate_derivative(signal[at], theta);
      tally.at_most(std::abs(d.theta[at] - pairs), 1e-10, "backward and pair form, pair ", m,
                    ", origin ", first);
      tally.at_most(std::abs(linear_form(d, p.positions, m) - pairs), 1e-10,
                    "linear and pair form, pair ", m, ", origin ", first);
      largest = std::max(largest, std::abs(pairs));
    }
  }
  tally.at_least(largest, 0.01, "the gradient is not zero");
  return tally.result(str("33 tokens, 8 pairs, origins 0 and 5; largest gradient ", largest));
}

}  // namespace

Identity frequency_gradient() {
  return {"frequency-gradient", "L12, L05", "Frequency gradient: three forms agree",
          "docs/schemes.md, gradient of frequencies; 1e-10: claim L12", run};
}

}  // namespace gyre::verify
