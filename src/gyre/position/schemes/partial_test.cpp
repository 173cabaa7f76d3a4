// Tests of schemes/partial.cpp: tables, options, messages.
#include "gyre/base/error.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Partial, RespacesTheWholeRangeOverTheSlice) {
  // Half of 16 channels: 4 pairs with exponents 0, 1/4, 1/2, 3/4; p-RoPE would keep 0, 1/8, 1/4,
  // 3/8.
  const auto plan = make_plan("partial:fraction=0.5,base=10000", "full", {.head_dim = 16});
  EXPECT_EQ(plan.rotary_dim, 8);
  const double expected[] = {1.0, 0.1, 0.01, 0.001};
  for (size_t m = 0; m < 4; ++m) {
    EXPECT_NEAR(plan.layers[0].inv_freq[0][m], expected[m], 1e-16);
  }
}

TEST(Partial, IsRopeAtOne) {
  EXPECT_EQ(make_plan("partial:fraction=1", "full", {.head_dim = 64}),
            make_plan("rope", "full", {.head_dim = 64}));
}

TEST(Partial, RefusesAnEmptySlice) {
  const std::string message =
      "partial: 'fraction' must be in (0, 1] and leave at least one pair of 8 channels, got ";
  for (const char* fraction : {"0", "0.2", "-1", "1.2"}) {
    expect_usage_error(str("partial:fraction=", fraction), {.head_dim = 8}, message + fraction);
  }
}

}  // namespace
}  // namespace gyre::position
