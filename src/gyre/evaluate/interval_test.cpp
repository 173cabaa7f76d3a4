#include "gyre/evaluate/interval.h"

#include <gtest/gtest.h>

namespace gyre::evaluate {
namespace {

// Expected: closed form at p = 0 and 1, [0, z^2 / (n + z^2)]; the middle case from scipy,
// binomtest(15, 50).proportion_ci(method="wilson").
TEST(Wilson95, MatchesClosedFormAndScipy) {
  const double z2 = 1.959963984540054 * 1.959963984540054;
  EXPECT_NEAR(wilson95(0, 10).first, 0.0, 1e-12);
  EXPECT_NEAR(wilson95(0, 10).second, z2 / (10 + z2), 1e-12);
  EXPECT_NEAR(wilson95(10, 10).first, 10 / (10 + z2), 1e-12);
  EXPECT_NEAR(wilson95(10, 10).second, 1.0, 1e-12);
  EXPECT_NEAR(wilson95(15, 50).first, 0.1910355350088095, 1e-12);
  EXPECT_NEAR(wilson95(15, 50).second, 0.4375035046445341, 1e-12);
  EXPECT_EQ(wilson95(0, 0), std::make_pair(0.0, 1.0));
}

}  // namespace
}  // namespace gyre::evaluate
