// The rates of wrong decisions that the protocol states, by simulation: 600 runs of a cell with a
// fixed seed. A share of 600 runs is known within 3 sqrt(p (1 - p) / 600), at most 6 points. The
// requests that a run takes spread by about 100; both the stated mean and this one are of 600 runs,
// so that they agree within 3 sqrt(2) 100 / sqrt(600) = 17.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "gyre/accept/statistics.h"
#include "gyre/base/rng.h"

namespace gyre::accept {
namespace {

constexpr int kRuns = 600;
constexpr double kRequests = 17.0;
using Truth = std::array<double, 5>;

struct Rates {
  double pass = 0.0, fail = 0.0, requests = 0.0;
};

Rates simulate(const Truth& truth, double threshold) {
  const LookPlan plan;
  Rng rng(11, "error rates");
  Rates out;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<BucketCount> buckets(truth.size());
    Decision decision;
    decision.lower.assign(truth.size(), 0.0);
    for (const int64_t look : plan.looks) {
      for (size_t i = 0; i < truth.size(); ++i) {
        // A bucket that has reached the threshold is not asked again.
        while (decision.lower[i] < threshold && buckets[i].n < look) {
          ++buckets[i].n;
          buckets[i].correct += rng.uniform() < truth[i];
        }
      }
      decision = decide(buckets, threshold, plan);
      if (decision.status != Status::Undecided) {
        break;
      }
    }
    out.pass += decision.status == Status::Pass;
    out.fail += decision.status == Status::Fail;
    for (const BucketCount& bucket : buckets) {
      out.requests += static_cast<double>(bucket.n);
    }
  }
  return {out.pass / kRuns, out.fail / kRuns, out.requests / kRuns};
}

Truth all(double p) {
  return {p, p, p, p, p};
}
Truth one(double bad, double rest) {
  return {rest, rest, bad, rest, rest};
}
double tolerance(double p) {
  return 3.0 * std::sqrt(p * (1.0 - p) / kRuns) + 0.5 / kRuns;
}

void expect(const Rates& rates, double share, double stated, double requests) {
  EXPECT_NEAR(share, stated, std::max(tolerance(stated), 0.01));
  EXPECT_NEAR(rates.requests, requests, kRequests);
}

TEST(ErrorRates, GoodModelsPassAtFourFifths) {
  const Rates best = simulate(all(0.99), 0.80);
  expect(best, best.pass, 1.00, 245);
  const Rates good = simulate(all(0.95), 0.80);
  expect(good, good.pass, 0.98, 424);
}

TEST(ErrorRates, ABrokenBucketFailsEarly) {
  const Rates rates = simulate(one(0.30, 0.99), 0.80);
  expect(rates, rates.fail, 1.00, 85);
}

TEST(ErrorRates, AHigherThresholdTakesMore) {
  const Rates best = simulate(all(0.99), 0.85);
  expect(best, best.pass, 1.00, 394);
  const Rates good = simulate(all(0.97), 0.85);
  expect(good, good.pass, 0.93, 546);
  const Rates bad = simulate(one(0.70, 0.99), 0.85);
  expect(bad, bad.fail, 0.94, 283);
}

TEST(ErrorRates, ABucketBelowTheThresholdHardlyEverPasses) {
  // alpha = 0.05 is shared by 15 bounds of which three are this bucket's: at most one in a hundred.
  EXPECT_LE(simulate(one(0.79, 0.999), 0.80).pass, 0.01 + tolerance(0.01));
  EXPECT_LE(simulate(one(0.84, 0.999), 0.85).pass, 0.01 + tolerance(0.01));
}

TEST(ErrorRates, AModelOnTheThresholdHardlyEverFails) {
  EXPECT_LE(simulate(all(0.80), 0.80).fail, 0.05 + tolerance(0.05));
  EXPECT_LE(simulate(all(0.81), 0.80).fail, 0.05 + tolerance(0.05));
}

}  // namespace
}  // namespace gyre::accept
