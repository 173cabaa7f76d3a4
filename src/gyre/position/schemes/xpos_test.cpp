// Tests of schemes/xpos.cpp: formula, options, messages.
#include <cmath>

#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(XPos, DecaysFastBandsMost) {
  // zeta_m = (2m + 0.4 d) / (1.4 d), as the paper's algorithm 1 has it; d = 8, scale base 512.
  const auto plan = make_plan("xpos", "full", {.n_layers = 2, .head_dim = 8});
  const double zeta[] = {3.2 / 11.2, 5.2 / 11.2, 7.2 / 11.2, 9.2 / 11.2};
  for (const LayerPlan& layer : plan.layers) {
    ASSERT_EQ(layer.decay.size(), 4U);
    for (size_t m = 0; m < 4; ++m) {
      // After 512 tokens the band's part of the score is zeta times as large.
      EXPECT_NEAR(std::exp(-512.0 * layer.decay[m]), zeta[m], 1e-15) << m;
    }
  }
  EXPECT_EQ(plan.layers[0].inv_freq[0], bands_of("rope", 8));
}

TEST(XPos, RefusesBadOptions) {
  expect_usage_error("xpos:scale_base=0", {.head_dim = 8},
                     "xpos: 'scale_base' must be above 0, got 0");
  expect_usage_error("xpos:gamma=0", {.head_dim = 8}, "xpos: 'gamma' must be above 0, got 0");
}

}  // namespace
}  // namespace gyre::position
