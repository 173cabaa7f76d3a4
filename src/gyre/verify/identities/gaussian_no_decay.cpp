// Independent Gaussian q and k: mean 0 and variance d at every distance, so nothing decays. A fixed
// Gaussian pair does not decay either.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 32;

struct Moments {
  double mean, variance;
};

Moments moments(const Rows& q, const Rows& k) {
  double sum = 0.0, squares = 0.0;
  for (int64_t b = 0; b < q.n_batch; ++b) {
    double dot = 0.0;
    for (int64_t d = 0; d < kDim; ++d) {
      dot += q.at(b, 0, 0, d) * k.at(b, 0, 0, d);
    }
    sum += dot;
    squares += dot * dot;
  }
  const auto n = static_cast<double>(q.n_batch);
  return {sum / n, squares / n - sum / n * sum / n};
}

Curve fixed_pair(const Subject& subject, const position::PositionPlan& plan) {
  Curve curve{"one Gaussian pair", "distance, tokens", "q.k / (|q| |k|)", {}, {}};
  const Rows q = normal_rows("fixed q", {1, 1, 1, kDim}),
             k = normal_rows("fixed k", {1, 1, 1, kDim});
  std::vector<int64_t> positions;
  for (int64_t distance = 0; distance <= 5000; distance += 10) {
    positions.push_back(distance);
  }
  const auto n = static_cast<int64_t>(positions.size());
  const Rows many =
      rotated(subject, {repeated(q.values, n), repeated(k.values, n)}, positions, plan).q;
  for (int64_t t = 0; t < n; ++t) {
    double dot = 0.0, qq = 0.0, kk = 0.0;
    for (int64_t d = 0; d < kDim; ++d) {
      dot += many.at(0, 0, t, d) * k.at(0, 0, 0, d);
      qq += q.at(0, 0, 0, d) * q.at(0, 0, 0, d);
      kk += k.at(0, 0, 0, d) * k.at(0, 0, 0, d);
    }
    curve.x.push_back(static_cast<double>(positions[static_cast<size_t>(t)]));
    curve.y.push_back(dot / std::sqrt(qq * kk));
  }
  return curve;
}

CheckResult run(const Subject& subject) {
  const int64_t n_draws = subject.quick ? 4000 : 100000;
  const auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim);
  const Rows q = normal_rows("gaussian q", {n_draws, 1, 1, kDim});
  const Rows k = normal_rows("gaussian k", {n_draws, 1, 1, kDim});
  Curve mean{"Gaussian mean", "distance, tokens", "mean of q.k, standard errors", {}, {}};
  Curve variance{"Gaussian variance", "distance, tokens", "variance of q.k / d", {}, {}};
  Tally tally;
  for (const int64_t distance : {0, 1, 10, 100, 1000, 5000, 8191}) {
    const Turned turned = rotated(subject, {q, k}, {distance}, plan);
    const Moments at = moments(turned.q, k);
    const double error = std::sqrt(at.variance / static_cast<double>(n_draws));
    tally.at_most(std::abs(at.mean) / error, 4.5, "mean at distance ", distance,
                  ", standard errors");
    // With fewer draws the variance of the variance is larger: sd = sqrt((2 + 6/d) / n).
    tally.at_most(std::abs(at.variance / kDim - 1.0), subject.quick ? 0.15 : 0.05,
                  "variance over d at distance ", distance);
    mean.x.push_back(static_cast<double>(distance));
    mean.y.push_back(at.mean / error);
    variance.x.push_back(static_cast<double>(distance));
    variance.y.push_back(at.variance / kDim);
  }
  const Curve fixed = fixed_pair(subject, plan);
  double late = 0.0, early = 0.0;
  for (size_t i = 0; i < fixed.y.size(); ++i) {
    double& part = i < fixed.y.size() / 2 ? early : late;
    part = std::max(part, std::abs(fixed.y[i]));
  }
  tally.at_least(late / early, 0.5,
                 "one fixed pair: largest score in the far half over the near half");
  return tally.result(
      str(n_draws, " pairs per distance to 8191; far over near of a fixed pair ", late / early),
      {mean, variance, fixed});
}

}  // namespace

Identity gaussian_no_decay() {
  return {"gaussian-no-decay", "R06, R08", "Independent Gaussian q and k: no decay",
          "Barbero et al. 2024, prop. 3.2 and app. B.4, arXiv:2410.06205; 4.5 standard errors and "
          "5 %: claim R06",
          run};
}

}  // namespace gyre::verify
