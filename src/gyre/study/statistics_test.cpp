// Expected values: Student's sleep data (Biometrika 1908, t = 4.06), SciPy and statsmodels as
// independent implementations, hand calculation where the comment says so.
#include "gyre/study/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gyre::study {
namespace {

const std::vector<double> kSleep = {1.2, 2.4, 1.3, 1.3, 0.0, 1.0, 1.8, 0.8, 4.6, 1.4};

TEST(Statistics, StudentsSleepData) {
  const TTest test = t_test(kSleep);
  EXPECT_NEAR(test.mean, 1.58, 1e-12);
  EXPECT_NEAR(test.sd, 1.2299954832798732, 1e-12);
  EXPECT_NEAR(test.p, 0.002832890197384273, 1e-12);
  EXPECT_NEAR(test.ci95.lo, 0.7001142367230175, 1e-10);
  EXPECT_NEAR(test.ci95.hi, 2.459885763276983, 1e-10);
  EXPECT_EQ(test.df, 9);
}

TEST(Statistics, TwoValuesHaveOneDegreeOfFreedom) {
  const TTest test = t_test(std::vector<double>{0.01, 0.03});  // sd 0.02 / sqrt 2, error 0.01
  EXPECT_NEAR(test.ci95.lo, 0.02 - 12.706204736174694 * 0.01, 1e-12);
  EXPECT_NEAR(test.p, 0.2951672353008665, 1e-12);  // t = 2, df = 1
}

TEST(Statistics, OneValueHasNoInterval) {
  const TTest test = t_test(std::vector<double>{0.5});
  EXPECT_EQ(test.mean, 0.5);
  EXPECT_TRUE(std::isnan(test.p));
  EXPECT_FALSE(test.ci95.known());
}

TEST(Statistics, EqualArmsGiveNoDifferenceRatherThanADivisionByZero) {
  EXPECT_EQ(t_test(std::vector<double>{0, 0, 0}).p, 1);
  EXPECT_EQ(t_test(std::vector<double>{0.5, 0.5}).p, 0);
}

TEST(Statistics, ResidualOfAFullTable) {
  std::vector<TableCell> cells;
  const double y[3][3] = {{2.29, 2.31, 2.28}, {2.27, 2.30, 2.27}, {2.58, 2.55, 2.60}};
  for (int64_t arm = 0; arm < 3; ++arm) {
    for (int64_t seed = 0; seed < 3; ++seed) {
      cells.push_back({arm, seed, y[arm][seed]});
    }
  }
  EXPECT_NEAR(two_way_residual(cells).mean_square, 0.0005666666666666706, 1e-15);
  EXPECT_EQ(two_way_residual(cells).df, 4);
  cells.pop_back();  // numpy.linalg.lstsq on the eight that are left
  EXPECT_NEAR(two_way_residual(cells).mean_square, 0.00034722222222222424, 1e-12);
  EXPECT_EQ(two_way_residual(cells).df, 3);
}

TEST(Statistics, TwoArmsPooledAreTheOrdinaryPairedTest) {
  std::vector<TableCell> cells;
  for (size_t i = 0; i < kSleep.size(); ++i) {
    const auto seed = static_cast<int64_t>(i);
    cells.push_back({0, seed, 3.0 * static_cast<double>(i)});
    cells.push_back({1, seed, 3.0 * static_cast<double>(i) + kSleep[i]});
  }
  const Residual residual = two_way_residual(cells);
  EXPECT_NEAR(std::sqrt(2 * residual.mean_square), t_test(kSleep).sd, 1e-12);
  EXPECT_EQ(residual.df, 9);
}

TEST(Statistics, ArmsWithoutACommonSeedShareNoDegreeOfFreedom) {
  EXPECT_EQ(two_way_residual({{0, 1, 2.0}, {1, 2, 3.0}}).df, 0);
  EXPECT_TRUE(std::isnan(two_way_residual({}).mean_square));
}

TEST(Statistics, SignTestIsTheExactBinomial) {
  EXPECT_NEAR(sign_test(kSleep), 0.00390625, 1e-15);  // nine above, a zero dropped: 2 / 512
  EXPECT_NEAR(sign_test(std::vector<double>{1, 1, -1, 1, 1, 1, 1, 1, -1, 1}), 0.109375, 1e-12);
  EXPECT_EQ(sign_test(std::vector<double>{0, 0}), 1);
}

TEST(Statistics, HolmsCorrection) {
  const auto p = holm({0.01, 0.04, kUnknown, 0.03, 0.005});
  const double expected[] = {0.03, 0.06, 0, 0.06, 0.02};
  for (const size_t i : {0, 1, 3, 4}) {
    EXPECT_NEAR(p[i], expected[i], 1e-15);
  }
  EXPECT_TRUE(std::isnan(p[2]));
}

TEST(Statistics, RunsNeededAgreeWithPowerTables) {
  // Cohen's d 0.2, 0.5, 0.8, 1.0 paired, two-sided 5 %, power 80 %: 199, 34, 15, 10 (G*Power).
  EXPECT_EQ(runs_needed(0.2), 199);
  EXPECT_EQ(runs_needed(-0.5), 34);
  EXPECT_EQ(runs_needed(0.8), 15);
  EXPECT_EQ(runs_needed(1.0), 10);
  EXPECT_EQ(runs_needed(3.0), 4);
  EXPECT_EQ(runs_needed(20.0), 2);
  EXPECT_FALSE(runs_needed(0.0).has_value());
  EXPECT_FALSE(runs_needed(kUnknown).has_value());
  EXPECT_FALSE(runs_needed(1e-6).has_value());
}

TEST(Statistics, BootstrapOfAMeanIsNearTheNormalInterval) {
  std::vector<double> values(400);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i % 20);  // mean 9.5, sd 5.77: error 0.2887
  }
  const auto resampled = [&](std::span<const int64_t> drawn) {
    double sum = 0;
    for (const int64_t i : drawn) {
      sum += values[static_cast<size_t>(i)];
    }
    return sum / static_cast<double>(drawn.size());
  };
  const Interval interval = bootstrap(400, resampled, 2000, 1);
  EXPECT_NEAR(interval.lo, 9.5 - 1.96 * 0.2887, 0.06);  // Monte Carlo error of a quantile, 2000
  EXPECT_NEAR(interval.hi, 9.5 + 1.96 * 0.2887, 0.06);
  EXPECT_EQ(interval.lo, bootstrap(400, resampled, 2000, 1).lo);
  EXPECT_FALSE(bootstrap(1, resampled, 10, 1).known());
}

TEST(Statistics, MedianOfEvenAndOddCounts) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_TRUE(std::isnan(median({})));
}

}  // namespace
}  // namespace gyre::study
