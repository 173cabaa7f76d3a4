// Tests of schemes/irope.cpp: formula, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(IRope, RotatesInChunksAndSeesAllElsewhere) {
  const auto plan = make_plan("irope", "full", {.n_layers = 8, .head_dim = 8});
  for (size_t n = 0; n < 8; ++n) {
    const LayerPlan& layer = plan.layers[n];
    const bool global = n % 4 == 3;
    EXPECT_EQ(layer.inv_freq.empty(), global) << n;
    EXPECT_EQ(layer.mask, (global ? MaskSpec{} : MaskSpec{.chunk = 8192})) << n;
    EXPECT_EQ(layer.query_growth, global ? 0.1 : 0.0) << n;
  }
  EXPECT_EQ(plan.layers[0].inv_freq[0], bands_of("rope:base=500000", 8));
  EXPECT_EQ(plan.layout, PairLayout::Unstated);
  EXPECT_EQ(make_plan("irope", "full", {.layout = PairLayout::Interleaved}).layout,
            PairLayout::Interleaved);
  EXPECT_EQ(make_plan("irope:floor=64,layout=halves", "full", {.n_layers = 4})
                .layers[3]
                .query_growth_floor,
            64.0);
}

TEST(IRope, RefusesBadOptions) {
  const PlanRequest request{.head_dim = 8};
  expect_usage_error("irope:interval=0", request,
                     "irope: 'interval' must be 1 or more layers, got 0");
  expect_usage_error("irope:chunk=-1", request, "irope: 'chunk' must be 0 or more tokens, got -1");
  expect_usage_error("irope:growth=-1", request, "irope: 'growth' must be 0 or more, got -1");
  expect_usage_error("irope:floor=0", request, "irope: 'floor' must be above 0, got 0");
}

}  // namespace
}  // namespace gyre::position
