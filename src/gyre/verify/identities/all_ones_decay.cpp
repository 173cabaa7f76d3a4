// The old belief and its condition: with q = k = (1, ..., 1) the score falls with distance. The
// companion gaussian-no-decay shows the other condition.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

CheckResult run(const Subject& subject) {
  constexpr int64_t kDim = 64;
  const auto bands = geometric(10000.0, kDim / 2, kDim);
  const auto plan = plan_of(bands, kDim);
  std::vector<int64_t> positions;
  for (int64_t distance = 0; distance <= 5000; distance += distance < 100 ? 1 : 10) {
    positions.push_back(distance);
  }
  const auto n = static_cast<int64_t>(positions.size());
  const Rows ones = repeated(std::vector<double>(kDim, 1.0), n);
  const Turned turned = rotated(subject, {ones, ones}, positions, plan);
  Curve curve{"all ones", "distance, tokens", "q.k / q.k at 0", {}, {}};
  Tally tally;
  std::string table;
  double far = 0.0;
  for (int64_t t = 0; t < n; ++t) {
    double sum = 0.0;
    for (int64_t d = 0; d < kDim; ++d) {
      sum += turned.q.at(0, 0, t, d) * turned.k.at(0, 0, 0, d);
    }
    const int64_t distance = positions[static_cast<size_t>(t)];
    double expected = 0.0;
    for (const double theta : bands) {
      expected += 2.0 * std::cos(static_cast<double>(distance) * theta);
    }
    tally.at_most(std::abs(sum - expected), 1e-10, "distance ", distance);
    curve.x.push_back(static_cast<double>(distance));
    curve.y.push_back(sum / kDim);
    if (distance == 0 || distance == 10 || distance == 100 || distance == 1000 ||
        distance == 5000) {
      table += str(table.empty() ? "" : ", ", distance, ": ", std::round(sum / kDim * 1e4) / 1e4);
    }
    far = distance >= 2500 ? std::max(far, std::abs(sum / kDim)) : far;
  }
  tally.at_most(std::abs(curve.y[0] - 1.0), 1e-15, "distance 0");
  tally.at_most(far, 0.35, "largest share of the score left beyond 2500 tokens");
  return tally.result("share of the score at distance " + table, {curve});
}

}  // namespace

Identity all_ones_decay() {
  return {
      "all-ones-decay", "R02, R08", "Equal q and k of ones: the score decays with distance",
      "Su et al. 2021, sec. 3.4.3; Barbero et al. 2024, fig. 2; 1e-10: 64 terms, angles to 5000",
      run};
}

}  // namespace gyre::verify
