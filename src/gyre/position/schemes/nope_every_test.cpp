// Tests of schemes/nope_every.cpp: formula, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(NopeEvery, LeavesEveryFourthLayerUnrotated) {
  // transformers#43756: 36 layers, interval 4: no rotation at 3, 7, .., 35 and nowhere else.
  const auto plan = make_plan("nope_every", "full", {.n_layers = 36, .head_dim = 8});
  for (size_t n = 0; n < 36; ++n) {
    EXPECT_EQ(plan.layers[n].inv_freq.empty(), n % 4 == 3) << n;
  }
  EXPECT_EQ(plan.layers[0].inv_freq[0], bands_of("rope", 8));
  EXPECT_EQ(plan.rotary_dim, 8);
}

TEST(NopeEvery, EndsAreKnownSchemes) {
  const PlanRequest request{.n_layers = 3, .head_dim = 8};
  EXPECT_EQ(make_plan("nope_every:interval=9", "full", request),
            make_plan("rope", "full", request));
  EXPECT_TRUE(make_plan("nope_every:interval=1", "full", request).layers[0].inv_freq.empty());
}

TEST(NopeEvery, RefusesBadOptions) {
  expect_usage_error("nope_every:interval=0", {.head_dim = 8},
                     "nope_every: 'interval' must be 1 or more layers, got 0");
}

}  // namespace
}  // namespace gyre::position
