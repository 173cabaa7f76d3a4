// Tests of schemes/linear.cpp: formula, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Linear, DividesEveryFrequency) {
  // JIA-Lab-research/LongLoRA#181: factor 2, base 1e4, 128 channels: f1 = 0.432982162.
  EXPECT_NEAR(bands_of("linear:factor=2", 128)[1], 0.432982162, 5e-10);
  const auto plan = make_plan("linear:factor=4,rotary=4,layout=interleaved", "full",
                              {.n_layers = 2, .head_dim = 8});
  expect_close(plan.layers[1].inv_freq[0], {0.25, 0.0025});
  EXPECT_EQ(plan.rotary_dim, 4);
  EXPECT_EQ(plan.layout, PairLayout::Interleaved);
  EXPECT_EQ(plan.length_rule, "");
}

TEST(Linear, ExtendsLearnedFrequencies) {
  const TemporaryRun run("[[[0.9,0.0],[0.8,0.001]]]");
  const auto plan = make_plan("linear:factor=2,from=" + run.path(), "full",
                              {.n_heads = 2, .n_kv_heads = 2, .head_dim = 4});
  expect_close(plan.layers[0].inv_freq[0], {0.45, 0.0});
  expect_close(plan.layers[0].inv_freq[1], {0.4, 0.0005});
}

TEST(Linear, RefusesBadOptions) {
  const PlanRequest request{.head_dim = 8};
  expect_usage_error("linear:factor=0.25", request, "linear: 'factor' must be 1 or more, got 0.25");
  expect_usage_error("linear:rotary=3", request,
                     "linear: 'rotary' must be even and at most the head dim 8, got 3");
  expect_usage_error("linear:rotary=10", request,
                     "linear: 'rotary' must be even and at most the head dim 8, got 10");
  expect_usage_error("linear:from=run,rotary=4", request,
                     "linear: 'rotary' is the run's own when 'from' is given, got 4; leave it out");
  expect_usage_error("linear:base=1", request, "linear: 'base' must be a number above 1, got 1");
}

}  // namespace
}  // namespace gyre::position
