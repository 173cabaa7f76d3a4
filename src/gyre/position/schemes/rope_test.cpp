// Tests of schemes/rope.cpp: tables, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Rope, HasThirtyTwoBandsAtHeadDim64) {
  // L02: theta_m = b^(-2m/d); band 16 of 32 is b^(-1/2) = 1/100.
  const auto bands = bands_of("rope", 64);
  ASSERT_EQ(bands.size(), 32U);
  EXPECT_EQ(bands[0], 1.0);
  EXPECT_NEAR(bands[16], 0.01, 2e-18);
}

TEST(Rope, SharesOneRowOverLayersAndHeads) {
  const auto plan =
      make_plan("rope", "full", {.n_layers = 3, .n_heads = 4, .n_kv_heads = 2, .head_dim = 8});
  for (const LayerPlan& layer : plan.layers) {
    EXPECT_EQ(layer.inv_freq.size(), 1U);
    EXPECT_EQ(layer.amplitude, 1.0);
    EXPECT_EQ(layer.logit_scale, 1.0);
  }
  EXPECT_EQ(plan.learning, Learning{});
  EXPECT_EQ(plan.rotary_dim, 8);
}

TEST(Rope, RefusesBadOptions) {
  expect_usage_error("rope:base=1", {.head_dim = 8},
                     "rope: 'base' must be a number above 1, got 1");
  expect_usage_error("rope", {.head_dim = 7},
                     "rope: the head dim must be even to form pairs, got 7");
}

}  // namespace
}  // namespace gyre::position
