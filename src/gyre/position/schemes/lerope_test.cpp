// Tests of schemes/lerope.cpp: tables, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

constexpr PlanRequest kRequest{.n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .head_dim = 64};

TEST(LeRope, StartsAsRope) {
  // L08: alpha = 0; only the learning part of the plan differs.
  PositionPlan plan = make_plan("lerope", "full", kRequest);
  EXPECT_NE(plan.learning, Learning{});
  plan.learning = {};
  EXPECT_EQ(plan, make_plan("rope", "full", kRequest));
}

TEST(LeRope, SharesAsAsked) {
  // L09: one row of 32 bands, or one per key/value head.
  const auto all = make_plan("lerope", "full", kRequest);
  const auto layer = make_plan("lerope:share=layer", "full", kRequest);
  const auto head = make_plan("lerope:share=head", "full", kRequest);
  EXPECT_EQ(all.learning.sharing, Sharing::All);
  EXPECT_EQ(layer.learning.sharing, Sharing::Layer);
  EXPECT_EQ(head.learning.sharing, Sharing::Head);
  EXPECT_EQ(all.layers[0].inv_freq.size(), 1U);
  EXPECT_EQ(layer.layers[0].inv_freq.size(), 1U);
  ASSERT_EQ(head.layers[0].inv_freq.size(), 2U);
  EXPECT_EQ(head.layers[0].inv_freq[1], all.layers[0].inv_freq[0]);
  EXPECT_EQ(all.layers[0].inv_freq[0].size(), 32U);
}

TEST(LeRope, CarriesItsOwnRateAndClip) {
  const auto plan = make_plan("lerope:lr=0.004,clip=0", "full", kRequest);
  EXPECT_EQ(plan.learning.lr, 0.004);
  EXPECT_EQ(plan.learning.clip, 0.0);
}

TEST(LeRope, RefusesBadOptions) {
  expect_usage_error("lerope:lr=-1", kRequest, "lerope: 'lr' must be 0 or more, got -1");
  expect_usage_error("lerope:clip=-1", kRequest, "lerope: 'clip' must be 0 or more, got -1");
  expect_usage_error(
      "lerope:share=heads", kRequest,
      "lerope: 'share' must be one of all, layer, head; got 'heads'; did you mean 'head'?");
}

}  // namespace
}  // namespace gyre::position
