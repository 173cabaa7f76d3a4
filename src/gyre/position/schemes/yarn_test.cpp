// Tests of schemes/yarn.cpp: formula, options, messages.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/position/extension.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

LayerPlan layer_of(const std::string& spec, int64_t head_dim = 64) {
  return make_plan(spec, "full", {.head_dim = head_dim}).layers[0];
}

TEST(Yarn, TheGivenFactorAndAmplitudeWin) {
  // huggingface/transformers#38224: factor 4 whatever the maximum length says.
  EXPECT_NEAR(layer_of("yarn:factor=4,original=32768").amplitude, 1.138629436, 5e-10);
  // vllm-project/vllm#46280: attention_factor 1 instead of 1.415888308.
  EXPECT_NEAR(layer_of("yarn:factor=64,original=4096").amplitude, 1.415888308, 5e-10);
  EXPECT_EQ(layer_of("yarn:factor=64,original=4096,attention_factor=1").amplitude, 1.0);
  // DeepSeek: equal mscales leave the amplitude at 1 and move it into the softmax scale.
  const LayerPlan mla = layer_of("yarn:factor=40,original=4096,mscale=1,mscale_all_dim=1,mla=true");
  EXPECT_EQ(mla.amplitude, 1.0);
  EXPECT_NEAR(mla.logit_scale, std::pow(0.1 * std::log(40.0) + 1.0, 2), 1e-15);
}

TEST(Yarn, TruncationMovesTheRamp) {
  // vllm-project/vllm#27722: bounds 8.09 and 17.40; rounded, pair 17 is 1.763 times too fast.
  const std::string spec = "yarn:base=150000,factor=32,original=4096,truncate=";
  const auto exact = bands_of(spec + "false", 64), rounded = bands_of(spec + "true", 64);
  EXPECT_NEAR(rounded[17] / exact[17], 1.763, 5e-4);
  const RampBounds bounds = yarn_ramp_bounds(
      150000, 64, {.original = 4096, .beta_fast = 32, .beta_slow = 1, .truncate = false});
  EXPECT_NEAR(bounds.low, 8.092779115512402, 1e-13);
  EXPECT_NEAR(bounds.high, 17.39802450158856, 1e-13);
}

TEST(Yarn, TheOriginalLengthIsNotTheTablesLength) {
  // NVIDIA/Megatron-LM#1418: bounds 23/40, with 131072 as original 30/47; pair 40 2.2353 times too
  // fast.
  const auto right = yarn_ramp_bounds(1e6, 128, {.original = 32768});
  const auto wrong = yarn_ramp_bounds(1e6, 128, {.original = 131072});
  EXPECT_EQ(std::make_pair(right.low, right.high), std::make_pair(23.0, 40.0));
  EXPECT_EQ(std::make_pair(wrong.low, wrong.high), std::make_pair(30.0, 47.0));
  EXPECT_NEAR(bands_of("yarn:base=1000000,original=131072", 128)[40] /
                  bands_of("yarn:base=1000000,original=32768", 128)[40],
              2.2353, 5e-5);
}

TEST(Yarn, LearnedBandsAreRampedByWavelength) {
  // Without rounding the base cancels: t = ln(wavelength beta_fast / L) / ln(beta_fast/beta_slow).
  const Bands learned{0.9, 0.31, 0.02, 0.05, 0.0004, 0.0, 0.003, 0.0011};
  const TemporaryRun run("[[[0.9,0.31,0.02,0.05,0.0004,0.0,0.003,0.0011]]]");
  for (const char* base : {"10000", "500000"}) {
    const auto after = bands_of(
        str("yarn:factor=8,original=2048,truncate=false,base=", base, ",from=", run.path()), 16);
    for (size_t m = 0; m < learned.size(); ++m) {
      const double place = std::log(wavelength_tokens(learned[m]) * 32.0 / 2048.0) / std::log(32.0);
      const double t = std::clamp(place, 0.0, 1.0);
      const double expected = learned[m] * ((1.0 - t) + t / 8.0);
      EXPECT_NEAR(after[m], expected, 1e-12 * expected) << m << " base " << base;
    }
  }
}

TEST(Yarn, RefusesBadOptions) {
  const PlanRequest request{.head_dim = 8, .train_length = 64};
  expect_usage_error("yarn:beta_fast=1,beta_slow=32", request,
                     "yarn: 'beta_fast' must be at least 'beta_slow', got beta_fast 1 and "
                     "beta_slow 32");
  expect_usage_error("yarn:attention_factor=-1", request,
                     "yarn: 'attention_factor' must be 0 or more, got -1");
  expect_usage_error("yarn:factor=0.5", request, "yarn: 'factor' must be 1 or more, got 0.5");
  expect_usage_error("yarn:facter=4", request,
                     "yarn: unknown option 'facter'; did you mean 'factor'? known: base, rotary, "
                     "from, layout, factor, original, beta_fast, beta_slow, truncate, mscale, "
                     "mscale_all_dim, attention_factor, mla");
}

}  // namespace
}  // namespace gyre::position
