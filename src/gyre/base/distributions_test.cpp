// Expected values: SciPy 1.x (scipy.stats.t, nct, binom; scipy.special.betainc), an independent
// implementation, and printed tables where named.
#include "gyre/base/distributions.h"

#include <gtest/gtest.h>

#include <limits>

namespace gyre {
namespace {

TEST(Distributions, IncompleteBetaOnBothSidesOfItsSwitch) {
  EXPECT_NEAR(incomplete_beta(0.5, 0.5, 0.3), 0.36901011956554536, 1e-14);
  EXPECT_NEAR(incomplete_beta(2, 3, 0.4), 0.5248, 1e-14);  // by hand: 1 - 0.6^3 (1 + 3 * 0.4)
  EXPECT_NEAR(incomplete_beta(50, 0.5, 0.99), 0.3173043978741973, 1e-13);
  EXPECT_EQ(incomplete_beta(2, 3, 0), 0);
  EXPECT_EQ(incomplete_beta(2, 3, 1), 1);
}

TEST(Distributions, TwoSidedTailOfStudentsT) {
  EXPECT_NEAR(t_two_sided(2, 1), 0.2951672353008665, 1e-14);
  EXPECT_NEAR(t_two_sided(-2.776445, 4), 0.05000000538209156, 1e-14);
  EXPECT_NEAR(t_two_sided(10, 30) / 4.575251408229618e-11, 1, 1e-11);
  EXPECT_NEAR(t_two_sided(0.3, 2.5), 0.7873423714951973, 1e-13);
  EXPECT_EQ(t_two_sided(std::numeric_limits<double>::infinity(), 3), 0);
}

TEST(Distributions, QuantilesOfStudentsTAsInEveryTable) {
  EXPECT_NEAR(t_quantile(0.975, 1), 12.706204736174694, 1e-11);
  EXPECT_NEAR(t_quantile(0.975, 2), 4.302652729749462, 1e-12);
  EXPECT_NEAR(t_quantile(0.975, 4), 2.7764451051977934, 1e-12);
  EXPECT_NEAR(t_quantile(0.995, 30), 2.7499956535672254, 1e-12);
  EXPECT_NEAR(t_quantile(0.05, 3), -2.353363434801824, 1e-12);
  EXPECT_NEAR(t_quantile(0.975, 1000), 1.9623390808264083, 1e-12);
  EXPECT_EQ(t_quantile(0.5, 7), 0);
}

TEST(Distributions, PowerOfThePairedTTest) {
  EXPECT_NEAR(paired_t_power(0.5, 34, 0.05), 0.8077775012792738, 1e-8);
  EXPECT_NEAR(paired_t_power(1.0, 10, 0.05), 0.8030968566327219, 1e-8);
  EXPECT_NEAR(paired_t_power(0.2, 199, 0.05), 0.8016910240370655, 1e-8);
  EXPECT_NEAR(paired_t_power(3, 2, 0.05), 0.26077071422910975, 1e-6);
  EXPECT_NEAR(paired_t_power(-10, 2, 0.05), 0.7328195898057123, 1e-6);
  EXPECT_NEAR(paired_t_power(0, 5, 0.05), 0.05, 1e-8);  // no effect: the size of the test
}

TEST(Distributions, FairCoin) {
  EXPECT_NEAR(fair_coin_cdf(2, 10), 56.0 / 1024.0, 1e-15);  // 1 + 10 + 45 of 1024
  EXPECT_NEAR(fair_coin_cdf(9, 9), 1.0, 1e-15);
  EXPECT_EQ(fair_coin_cdf(-1, 9), 0.0);
}

}  // namespace
}  // namespace gyre
