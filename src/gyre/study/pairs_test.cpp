// Expected values: hand calculation on tables small enough for it, SciPy for t quantiles.
#include "gyre/study/pairs.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gyre/base/error.h"

namespace gyre::study {
namespace {

SeedLoss run(int64_t seed, double loss) {
  // Blocks around the loss that differ by text, in the same way for every arm.
  return {seed, loss, {loss - 0.2, loss + 0.1, loss + 0.1, loss}};
}

ArmLosses arm(const std::string& name, const std::vector<double>& losses) {
  ArmLosses out{name, {}};
  for (size_t i = 0; i < losses.size(); ++i) {
    out.runs.push_back(run(static_cast<int64_t>(i) + 1, losses[i]));
  }
  return out;
}

TEST(Pairs, TwoArmsTwoSeedsAreThePlainPairedTest) {
  const auto pairs = compare_pairs({arm("a", {2.30, 2.40}), arm("b", {2.31, 2.43})});
  ASSERT_EQ(pairs.size(), 1);
  const PairResult& p = pairs[0];
  EXPECT_NEAR(p.delta, 0.02, 1e-12);
  EXPECT_NEAR(p.sd_seeds, 0.01 * std::sqrt(2.0), 1e-12);
  EXPECT_EQ(p.interval_over, "seeds");
  EXPECT_NEAR(p.ci95.hi, 0.02 + 12.706204736174694 * 0.01, 1e-10);
  EXPECT_NEAR(p.p, 0.2951672353008665, 1e-10);  // t = 2 with one degree of freedom
  EXPECT_EQ(p.verdict, "no difference seen");
  EXPECT_EQ(p.n_blocks, 4);
  // effect 0.02 / 0.01414 = 1.414: power of 7 pairs 0.87, of 6 pairs 0.79 (SciPy nct)
  ASSERT_TRUE(p.seeds_needed.has_value());
  EXPECT_EQ(*p.seeds_needed, 7);
}

TEST(Pairs, SpreadIsPooledOverArmsWhenSeedsAreFew) {
  // Residuals by hand: three arms, two seeds, seed effect 0.1 apart from (0, +e, -e) interactions.
  const auto pairs =
      compare_pairs({arm("a", {2.0, 2.1}), arm("b", {2.502, 2.598}), arm("c", {1.498, 1.602})});
  // Cell residuals: a 0; b +-0.002; c -+0.002: sum of squares 4 * 4e-6, df (3-1)(2-1) = 2.
  const double mse = 1.6e-5 / 2;
  const double half = 4.302652729749462 * std::sqrt(2 * mse / 2);
  EXPECT_EQ(pairs[0].interval_over, "seeds, pooled sd");
  EXPECT_EQ(pairs[0].df, 2);
  EXPECT_NEAR(pairs[0].ci95.lo, 0.5 - half, 1e-10);
  EXPECT_NEAR(pairs[1].ci95.hi, -0.5 + half, 1e-10);
  EXPECT_NEAR(pairs[0].ci95_unpooled.lo, 0.5 - 12.706204736174694 * 0.002, 1e-10);
  EXPECT_EQ(pairs[0].verdict, "worse");
  EXPECT_EQ(pairs[1].verdict, "better");
}

TEST(Pairs, FromFiveSeedsOnAPairStandsOnItsOwnSpread) {
  const auto pairs = compare_pairs(
      {arm("a", {1, 2, 3, 4, 5}), arm("b", {1.1, 2.2, 3.1, 4.2, 5.1}), arm("c", {9, 1, 7, 3, 5})});
  EXPECT_EQ(pairs[0].interval_over, "seeds");
  EXPECT_EQ(pairs[0].df, 4);
  EXPECT_EQ(pairs[0].verdict, "worse");
  EXPECT_NEAR(pairs[0].p_sign, 2.0 / 32, 1e-12);
}

TEST(Pairs, OneSeedGivesNoVerdict) {
  const auto pairs = compare_pairs({arm("a", {2.0}), arm("b", {1.0})});
  EXPECT_NEAR(pairs[0].delta, -1, 1e-12);
  EXPECT_EQ(pairs[0].interval_over, "");
  EXPECT_FALSE(pairs[0].ci95.known());
  EXPECT_LT(pairs[0].ci95_blocks.hi, 0);
  EXPECT_EQ(pairs[0].verdict, "no difference seen");
  EXPECT_FALSE(pairs[0].seeds_needed.has_value());
}

TEST(Pairs, EqualArmsAreNoDifference) {
  const auto pairs = compare_pairs({arm("a", {2.0, 2.1}), arm("b", {2.0, 2.1})});
  EXPECT_EQ(pairs[0].delta, 0);
  EXPECT_EQ(pairs[0].p, 1);
  EXPECT_EQ(pairs[0].verdict, "no difference seen");
}

TEST(Pairs, BlocksOnTheOtherSideForbidAVerdict) {
  ArmLosses b = arm("b", {2.1, 2.2, 2.3, 2.4, 2.5});
  for (SeedLoss& one : b.runs) {
    one.blocks = {one.loss - 9, one.loss + 9, one.loss - 9, one.loss + 9};  // decided by few blocks
  }
  const auto pairs = compare_pairs({arm("a", {2.0, 2.1001, 2.2, 2.3001, 2.4}), b});
  EXPECT_LT(pairs[0].p_holm, 0.001);
  EXPECT_EQ(pairs[0].verdict, "no difference seen");
}

TEST(Pairs, OnlyCommonSeedsCountAndArmsWithoutOneAreLeftOut) {
  ArmLosses late{"late", {run(7, 1.0)}};
  const auto pairs = compare_pairs({arm("a", {2.0, 2.1, 2.2}), arm("b", {2.5, 2.6}), late});
  ASSERT_EQ(pairs.size(), 1);
  EXPECT_EQ(pairs[0].seeds, (std::vector<int64_t>{1, 2}));
}

TEST(Pairs, ManyArmsPayHolmsPrice) {
  const auto pairs = compare_pairs({arm("a", {1, 2, 3, 4, 5}), arm("b", {1.1, 2.2, 3.1, 4.2, 5.1}),
                                    arm("c", {1.1, 2.2, 3.1, 4.2, 5.1})});
  EXPECT_NEAR(pairs[0].p_holm, 2 * pairs[0].p, 1e-15);
}

TEST(Pairs, UnequalBlocksAreRefused) {
  ArmLosses b = arm("b", {2.0, 2.1});
  b.runs[0].blocks.pop_back();
  b.runs[1].blocks.pop_back();
  try {
    compare_pairs({arm("a", {2.0, 2.1}), b});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "unfair comparison: validation blocks: 4 and 3 of them; evaluate every run on the "
                 "same text");
  }
}

TEST(Pairs, ShareOfTheGain) {
  // reference 2.0, best 1.9, other 1.98: 20 % of the gain in every block, so no spread at all.
  const GainShare share =
      share_of_gain(arm("r", {2.0, 2.0}), arm("best", {1.9, 1.9}), arm("other", {1.98, 1.98}));
  EXPECT_NEAR(share.share, 0.2, 1e-12);
  EXPECT_NEAR(share.ci95.lo, 0.2, 1e-9);
  EXPECT_NEAR(share.ci95.hi, 0.2, 1e-9);
  EXPECT_FALSE(share_of_gain(arm("r", {2.0}), arm("best", {2.1}), arm("o", {1.9})).known());
}

}  // namespace
}  // namespace gyre::study
