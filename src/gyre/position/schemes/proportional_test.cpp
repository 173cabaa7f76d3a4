// Tests of schemes/proportional.cpp: formula, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Proportional, SpreadsExponentsOverTheWholeHead) {
  // pegainfer#820: D = 512, base 1e6, p = 0.25: f1 = 0.947463526, f63 = 0.033376247, then none.
  const auto bands = bands_of("proportional:base=1000000,p=0.25", 512);
  ASSERT_EQ(bands.size(), 256U);
  EXPECT_NEAR(bands[1], 0.947463526, 5e-10);
  EXPECT_NEAR(bands[63], 0.033376247, 5e-10);
  EXPECT_EQ(bands[64], 0.0);
}

TEST(Proportional, IsPRopeWithoutAFactor) {
  const PlanRequest request{.n_layers = 2, .head_dim = 32};
  EXPECT_EQ(make_plan("proportional:base=10000,p=0.6", "full", request),
            make_plan("prope:p=0.6", "full", request));
  EXPECT_EQ(bands_of("proportional:base=10000,p=1,factor=4", 32), bands_of("linear:factor=4", 32));
}

TEST(Proportional, RefusesBadOptions) {
  expect_usage_error("proportional:p=1.5", {.head_dim = 8},
                     "proportional: 'p' must be in [0, 1], got 1.5");
  expect_usage_error("proportional:factor=0", {.head_dim = 8},
                     "proportional: 'factor' must be 1 or more, got 0");
}

}  // namespace
}  // namespace gyre::position
