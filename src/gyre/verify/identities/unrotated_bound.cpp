// Without position information a head cannot be diagonal or previous-token: on [bos, x, x] the last
// token gives both x the same weight, so less than 1/2 each. One rotated head can.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 8, kDraws = 500;

// [bos, x, x] for each draw, times a factor that makes softmax sharp.
Rows bos_x_x(const std::string& stream, double factor) {
  const Rows two = normal_rows(stream, {kDraws, 1, 2, kDim});
  Rows out = zero_rows({kDraws, 1, 3, kDim});
  for (int64_t b = 0; b < kDraws; ++b) {
    for (int64_t t = 0; t < 3; ++t) {
      for (int64_t d = 0; d < kDim; ++d) {
        out.at(b, 0, t, d) = factor * two.at(b, 0, t == 0 ? 0 : 1, d);
      }
    }
  }
  return out;
}

// Plain softmax weight of key j for the last query, without positions.
double plain_weight(const Turned& raw, int64_t b, int64_t j) {
  double scores[3] = {}, sum = 0.0;
  for (int64_t key = 0; key < 3; ++key) {
    for (int64_t d = 0; d < kDim; ++d) {
      scores[key] += raw.q.at(b, 0, 2, d) * raw.k.at(b, 0, key, d) / std::sqrt(double{kDim});
    }
  }
  for (const double score : scores) {
    sum += std::exp(score - scores[j]);
  }
  return 1.0 / sum;
}

CheckResult run(const Subject& subject) {
  Tally tally;
  double highest = 0.0;
  const auto plan = subject.plan("nope", request_of(kDim));
  for (const double factor : {1.0, 3.0}) {
    const Turned raw{bos_x_x("bound q", factor), bos_x_x("bound k", factor)};
    const Turned turned = rotated(subject, raw, count_from(0, 3), plan);
    const Rows weights = weights_of(subject, turned, plan.layers[0]);
    for (int64_t b = 0; b < kDraws; ++b) {
      const double last = weights.at(b, 0, 2, 2), before = weights.at(b, 0, 2, 1);
      tally.at_most(std::abs(last - before), 1e-15, "draw ", b, ": both x weigh the same");
      tally.at_most(std::abs(last - plain_weight(raw, b, 2)), 1e-13, "draw ", b, ": plain softmax");
      tally.at_most(last, 0.5, "draw ", b, ": weight on itself");
      highest = std::max(highest, last);
    }
  }
  auto rotating = plan_of({1.0}, 2);
  const Rows psi = repeated({8.0, 0.0}, 3);
  const Turned turned = rotated(subject, {psi, psi}, count_from(0, 3), rotating);
  const double with = weights_of(subject, turned, rotating.layers[0]).at(0, 0, 2, 2);
  tally.at_least(with, 0.99, "a rotated head of norm 8 on [x, x, x]");
  return tally.result(str("largest weight without rotation ", highest, ", with ", with));
}

}  // namespace

Identity unrotated_bound() {
  return {"unrotated-bound", "R15", "Without positions, [bos, x, x] cannot exceed 1/2",
          "Barbero et al. 2024, prop. 5.2, arXiv:2410.06205; exact but for rounding", run};
}

}  // namespace gyre::verify
