// Bounds, looks and exact tests against values by hand and an independent search.
#include "gyre/accept/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gyre::accept {
namespace {

TEST(Wilson, AllRightIsNOverNPlusZSquared) {
  // z^2 = 1.959964^2 = 3.841459 (two-sided 95 %): 20 / 23.841459 and so on.
  EXPECT_NEAR(wilson_lower(20, 20, 0.025), 0.8388748, 1e-6);
  EXPECT_NEAR(wilson_lower(32, 32, 0.025), 0.8928201, 1e-6);
  EXPECT_NEAR(wilson_lower(64, 64, 0.025), 0.9433766, 1e-6);
  EXPECT_NEAR(wilson_upper(0, 20, 0.025), 1.0 - 0.8388748, 1e-6);
  EXPECT_DOUBLE_EQ(wilson_upper(20, 20, 0.025), 1.0);
}

TEST(Wilson, MatchesAPublishedExample) {
  // 81 of 263: (0.2553, 0.3662), Newcombe, Statistics in Medicine 17 (1998), table I, method 3.
  EXPECT_NEAR(wilson_lower(81, 263, 0.025), 0.2553, 5e-5);
  EXPECT_NEAR(wilson_upper(81, 263, 0.025), 0.3662, 5e-5);
}

TEST(Wilson, KnowsNothingWithoutItems) {
  EXPECT_EQ(wilson_lower(0, 0, 0.05), 0.0);
  EXPECT_EQ(wilson_upper(0, 0, 0.05), 1.0);
}

TEST(Decide, SharesAlphaAmongBucketsAndLooks) {
  EXPECT_DOUBLE_EQ(LookPlan{}.per_bound(), 0.05 / 15.0);
}

TEST(Decide, PassNeedsEveryLowerBound) {
  const LookPlan plan;
  // z(0.05 / 15) = 2.71305, so 48 of 48 gives 48 / (48 + 7.36065) = 0.86704.
  const Decision good = decide({{48, 48}, {48, 48}, {48, 48}, {48, 48}, {48, 48}}, 0.867, plan);
  EXPECT_EQ(good.status, Status::Pass);
  EXPECT_EQ(good.needs_about, 0);
  EXPECT_NEAR(good.lower[0], 0.86704, 1e-5);
  EXPECT_EQ(decide({{48, 48}, {48, 48}, {48, 48}, {48, 48}, {48, 48}}, 0.868, plan).status,
            Status::Undecided);
}

TEST(Decide, OneBadBucketFailsAndIsNamed) {
  const Decision out = decide({{16, 16}, {16, 4}, {16, 16}, {16, 16}, {16, 16}}, 0.8, LookPlan{});
  EXPECT_EQ(out.status, Status::Fail);
  EXPECT_EQ(out.worst, 1);
  EXPECT_LT(out.upper[1], 0.8);
}

TEST(Decide, SaysHowManyMoreWouldDecide) {
  // All right: n >= 7.36065 t / (1 - t) = 29.44 at t = 0.8, so 14 more than 16.
  const std::vector<BucketCount> perfect(5, BucketCount{16, 16});
  EXPECT_EQ(decide(perfect, 0.8, LookPlan{}).needs_about, 14);
  EXPECT_EQ(decide(std::vector<BucketCount>(5), 0.8, LookPlan{}).needs_about, 30);
  // Rates on the threshold never decide.
  EXPECT_EQ(decide(std::vector<BucketCount>(5, {10, 8}), 0.8, LookPlan{}).needs_about, kNeedsMost);
}

TEST(Decide, NothingAskedIsUndecided) {
  EXPECT_EQ(decide({}, 0.8, LookPlan{}).status, Status::Undecided);
}

TEST(McNemar, IsTheExactBinomial) {
  EXPECT_DOUBLE_EQ(mcnemar_exact(0, 0), 1.0);
  EXPECT_DOUBLE_EQ(mcnemar_exact(3, 3), 1.0);
  EXPECT_NEAR(mcnemar_exact(6, 0), 2.0 / 64.0, 1e-12);
  EXPECT_NEAR(mcnemar_exact(1, 8), 2.0 * 10.0 / 512.0, 1e-12);  // (1 + 9) / 2^9, both sides
  EXPECT_EQ(mcnemar_exact(1, 8), mcnemar_exact(8, 1));
}

TEST(Matthews, IsZeroForOneSidedAnswersAndOneForRightOnes) {
  EXPECT_DOUBLE_EQ(matthews(10, 0, 0, 10), 1.0);
  EXPECT_DOUBLE_EQ(matthews(0, 10, 10, 0), -1.0);
  EXPECT_DOUBLE_EQ(matthews(10, 10, 0, 0), 0.0);  // always "conflict"
  // (6*3 - 1*2) / sqrt(7 * 8 * 4 * 5), by hand.
  EXPECT_NEAR(matthews(6, 1, 2, 3), 16.0 / std::sqrt(1120.0), 1e-12);
}

TEST(PairedDifference, HasAWidthWhenNothingChanged) {
  // b = c = 0: +- z^2 / (n + z^2); z(0.05)^2 = 2.705543.
  const PairedDifference out = paired_difference(0, 0, 200, 0.05);
  EXPECT_NEAR(out.lo, -2.705543 / 202.705543, 1e-6);
  EXPECT_NEAR(out.hi, 2.705543 / 202.705543, 1e-6);
}

// The score test with the restricted likelihood maximised on a fine grid: an independent twin.
double slow_score(double b, double c, double n, double delta) {
  double best = -1e300, at = 0.0;
  const int kSteps = 200000;
  for (int i = 1; i < kSteps; ++i) {
    const double lost = (1.0 - std::abs(delta)) / 2.0 * i / kSteps + std::max(0.0, -delta);
    const double won = lost + delta;
    const double rest = 1.0 - lost - won;
    if (won <= 0 || lost <= 0 || rest <= 0) {
      continue;
    }
    const double value = b * std::log(lost) + c * std::log(won) + (n - b - c) * std::log(rest);
    if (value > best) {
      best = value;
      at = lost;
    }
  }
  return (c - b - n * delta) / std::sqrt(n * (2.0 * at + delta * (1.0 - delta)));
}

TEST(PairedDifference, BoundsSolveTheScoreTest) {
  const PairedDifference out = paired_difference(7, 3, 60, 0.025);
  EXPECT_NEAR(out.value, -4.0 / 60.0, 1e-12);
  EXPECT_NEAR(slow_score(7, 3, 60, out.lo), 1.959964, 2e-3);
  EXPECT_NEAR(slow_score(7, 3, 60, out.hi), -1.959964, 2e-3);
}

TEST(DesignEffect, IsTheClusterSizeWhenClustersAgree) {
  std::vector<BucketCount> alike;
  for (int i = 0; i < 60; ++i) {
    alike.push_back({5, i % 2 == 0 ? 5 : 0});
  }
  // Five copies of one answer: variance five times that of independent ones. 400 resamples know a
  // variance within 7 % (one sigma), so 25 % is more than three.
  EXPECT_NEAR(design_effect(alike, 1), 5.0, 1.25);
}

TEST(DesignEffect, IsUnknownWithoutVariance) {
  EXPECT_TRUE(std::isnan(design_effect({{5, 5}, {5, 5}}, 1)));
  EXPECT_TRUE(std::isnan(design_effect({{5, 2}}, 1)));
}

}  // namespace
}  // namespace gyre::accept
