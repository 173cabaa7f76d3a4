// The tally: what passes, what is kept as the worst.
#include "gyre/verify/probe.h"

#include <gtest/gtest.h>

namespace gyre::verify {
namespace {

TEST(Tally, KeepsTheWorstInUnitsOfItsTolerance) {
  Tally tally;
  tally.at_most(0.5, 1.0, "half");
  tally.at_most(0.009, 0.01, "nine tenths");
  const CheckResult result = tally.result("");
  EXPECT_TRUE(result.passed);
  EXPECT_EQ(result.where, "nine tenths");
  EXPECT_EQ(result.worst, 0.009);
  EXPECT_EQ(result.tolerance, 0.01);
}

TEST(Tally, FailsOnNanOnAnExactCheckAndOnNothing) {
  Tally nan, exact, floor, empty;
  nan.at_most(NAN, 1.0, "nan");
  exact.at_most(1e-300, 0.0, "exact");
  floor.at_least(0.09, 0.1, "seen");
  EXPECT_FALSE(nan.result("").passed);
  EXPECT_FALSE(exact.result("").passed);
  EXPECT_FALSE(floor.result("").passed);
  EXPECT_EQ(floor.result("").where, "seen: expected at least 0.1, got 0.09");
  EXPECT_FALSE(empty.result("").passed) << "a check that looked at nothing";
}

TEST(Tally, PassesAtTheTolerance) {
  Tally tally;
  tally.at_most(0.0, 0.0, "exact");
  tally.at_most(1.0, 1.0, "edge");
  tally.at_least(0.1, 0.1, "floor");
  EXPECT_TRUE(tally.result("").passed);
}

TEST(NormalRows, AreStandardNormalAndRepeatable) {
  const Rows rows = normal_rows("probe", {1, 1, 1000, 10});
  double mean = 0.0, square = 0.0;
  for (const double x : rows.values) {
    mean += x / 10000.0;
    square += x * x / 10000.0;
  }
  EXPECT_NEAR(mean, 0.0, 0.045);    // 4.5 standard errors
  EXPECT_NEAR(square, 1.0, 0.064);  // 4.5 sqrt(2 / n)
  EXPECT_EQ(rows.values, normal_rows("probe", {1, 1, 1000, 10}).values);
}

}  // namespace
}  // namespace gyre::verify
