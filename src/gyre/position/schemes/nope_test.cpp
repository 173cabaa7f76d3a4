// Tests of schemes/nope.cpp: tables, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

TEST(Nope, HoldsNoPositionInformation) {
  const auto plan =
      make_plan("nope", "full", {.n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .head_dim = 8});
  EXPECT_EQ(plan.rotary_dim, 0);
  EXPECT_EQ(plan.layers, std::vector<LayerPlan>(2));
  EXPECT_EQ(plan.learning, Learning{});
}

}  // namespace
}  // namespace gyre::position
