// Tests of schemes/gemma4.cpp: formula, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Gemma4, EverySixthAndTheLastLayerAreGlobalAndProportional) {
  const auto plan = make_plan("gemma4", "full", {.n_layers = 8, .head_dim = 16});
  for (size_t n = 0; n < 8; ++n) {
    const bool global = n == 5 || n == 7;
    EXPECT_EQ(plan.layers[n].mask, (global ? MaskSpec{} : MaskSpec{.window = 512})) << n;
    EXPECT_EQ(plan.layers[n].inv_freq[0], bands_of(global ? "proportional" : "rope", 16)) << n;
  }
  EXPECT_EQ(plan.rotary_dim, 16);
}

TEST(Gemma4, RefusesBadOptions) {
  expect_usage_error("gemma4:p=2", {.head_dim = 8}, "gemma4: 'p' must be in [0, 1], got 2");
  expect_usage_error("gemma4:every=0", {.head_dim = 8},
                     "gemma4: 'every' must be 1 or more layers, got 0");
  expect_usage_error("gemma4:window=-1", {.head_dim = 8},
                     "gemma4: 'window' must be 0 or more tokens, got -1");
}

}  // namespace
}  // namespace gyre::position
