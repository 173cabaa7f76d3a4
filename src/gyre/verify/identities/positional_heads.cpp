// Constructed heads: q = k = psi attends to itself, k = R psi to the previous token, the surer the
// larger psi.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kTokens = 48, kDim = 8, kPairs = kDim / 2;

// 1 / (1 + sum over other visible distances of exp(|psi|^2-weighted (cos - 1)))
double expected_weight(const std::vector<double>& bands, double chunk, int64_t i, int64_t target) {
  double sum = 0.0;
  for (int64_t distance = 0; distance <= i; ++distance) {
    double exponent = 0.0;
    for (const double theta : bands) {
      exponent += chunk * (exact_cos(theta, distance - target) - 1.0);
    }
    sum += std::exp(exponent);
  }
  return 1.0 / sum;
}

CheckResult run(const Subject& subject) {
  const auto bands = geometric(10000.0, kPairs, kDim);
  auto plan = plan_of(bands, kDim);
  plan.layers[0].logit_scale = std::sqrt(static_cast<double>(kDim));  // scores are q.k themselves
  Tally tally;
  std::string note;
  std::vector<Curve> curves{{"diagonal head", "|psi|^2", "smallest weight on itself", {}, {}},
                            {"previous-token head", "|psi|^2", "smallest weight one back", {}, {}}};
  for (const double chunk : {1.0, 4.0, 16.0, 64.0}) {  // squared norm of each pair
    std::vector<double> psi(kDim, 0.0), ahead(kDim, 0.0);
    for (size_t m = 0; m < kPairs; ++m) {
      psi[m] = std::sqrt(chunk);
      ahead[m] = psi[m] * std::cos(bands[m]);
      ahead[m + kPairs] = psi[m] * std::sin(bands[m]);
    }
    for (const int64_t target : {0, 1}) {
      const Turned raw{repeated(psi, kTokens), repeated(target == 0 ? psi : ahead, kTokens)};
      const Turned turned = rotated(subject, raw, count_from(0, kTokens), plan);
      const Rows weights = weights_of(subject, turned, plan.layers[0]);
      double smallest = 1.0;
      for (int64_t i = target; i < kTokens; ++i) {
        const double weight = weights.at(0, 0, i, i - target);
        tally.at_most(std::abs(weight - expected_weight(bands, chunk, i, target)), 1e-12,
                      "pair norm^2 ", chunk, ", target ", target, ", query ", i);
        smallest = std::min(smallest, weight);
      }
      Curve& curve = curves[static_cast<size_t>(target)];
      curve.x.push_back(chunk * kPairs);
      curve.y.push_back(smallest);
      if (chunk == 64.0) {
        tally.at_least(smallest, 0.999, "|psi|^2 = 256, target ", target);
        note += str(target == 0 ? "|psi|^2 = 256: diagonal " : ", previous token ", smallest);
      }
    }
  }
  return tally.result(note, curves);
}

}  // namespace

Identity positional_heads() {
  return {"positional-heads", "R04", "Constructed diagonal and previous-token heads",
          "Barbero et al. 2024, thm. 5.3, arXiv:2410.06205; 1e-12: 48 exponentials", run};
}

}  // namespace gyre::verify
