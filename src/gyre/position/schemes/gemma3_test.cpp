// Tests of schemes/gemma3.cpp: formula, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Gemma3, EverySixthLayerIsGlobal) {
  const auto plan = make_plan("gemma3", "full", {.n_layers = 13, .head_dim = 16});
  for (size_t n = 0; n < 13; ++n) {
    const bool global = n == 5 || n == 11;
    EXPECT_EQ(plan.layers[n].mask, (global ? MaskSpec{} : MaskSpec{.window = 1024})) << n;
    // ggml-org/llama.cpp#14367: position 2916, k = 0: 364.5 rad in global layers, 2916 in others.
    EXPECT_EQ(2916 * plan.layers[n].inv_freq[0][0], global ? 364.5 : 2916.0) << n;
    EXPECT_EQ(plan.layers[n].inv_freq[0],
              bands_of(global ? "linear:base=1000000,factor=8" : "rope", 16))
        << n;
  }
}

TEST(Gemma3, AMaskGivenReplacesItsOwn) {
  const auto plan = make_plan("gemma3:window=9,every=2", "window:4/full", {.n_layers = 4});
  EXPECT_EQ(plan.layers[0].mask.window, 4);
  EXPECT_EQ(plan.layers[1].mask.window, 0);
  const auto own = make_plan("gemma3:window=9,every=2", "full/window:4", {.n_layers = 4});
  EXPECT_EQ(own.layers[0].mask.window, 9);
  EXPECT_EQ(own.layers[1].mask.window, 4);
}

TEST(Gemma3, RefusesBadOptions) {
  expect_usage_error("gemma3:every=0", {.head_dim = 8},
                     "gemma3: 'every' must be 1 or more layers, got 0");
  expect_usage_error("gemma3:window=-1", {.head_dim = 8},
                     "gemma3: 'window' must be 0 or more tokens, got -1");
}

}  // namespace
}  // namespace gyre::position
