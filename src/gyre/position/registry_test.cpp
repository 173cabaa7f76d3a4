// The registry: names, specs, and masks laid over a plan.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "gyre/base/error.h"
#include "gyre/position/scheme.h"

namespace gyre::position {
namespace {

std::string message_of(const std::string& spec) {
  try {
    make_scheme(spec);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Usage);
    return e.what();
  }
  return "no error";
}

TEST(Registry, ListsEverySchemeOnce) {
  std::set<std::string> names;
  for (const SchemeInfo& info : schemes()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
  }
  for (const char* name :
       {"rope",         "prope",   "partial", "nope",         "lerope", "frozen",     "alibi",
        "linear",       "ntk",     "dynamic", "ntk_by_parts", "yarn",   "longrope",   "llama3",
        "proportional", "clipped", "xpos",    "gemma3",       "gemma4", "nope_every", "irope"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

TEST(Registry, NamesTheNearestScheme) {
  EXPECT_EQ(message_of("lerpe"),
            "no position scheme 'lerpe'; did you mean 'lerope'? see: gyre schemes");
  EXPECT_EQ(message_of("zzzzzzzzzz"), "no position scheme 'zzzzzzzzzz'; see: gyre schemes");
  EXPECT_EQ(message_of("yarn,factor=4"),
            "no position scheme 'yarn,factor=4'; did you mean 'yarn:factor=4'? see: gyre schemes");
}

TEST(Registry, NamesTheNearestOption) {
  EXPECT_EQ(message_of("rope:bas=500"),
            "rope: unknown option 'bas'; did you mean 'base'? known: base, layout");
  EXPECT_EQ(message_of("nope:p=1").find("nope: unknown option 'p'"), 0U);
  EXPECT_EQ(message_of("prope:0.75"), "prope: expected key=value, got '0.75'");
  EXPECT_EQ(message_of("yarn:factor=4,factor=8"), "yarn: 'factor' is given twice; keep one");
  EXPECT_EQ(message_of("prope:p=most"), "prope: 'p' must be a number, got 'most'");
  EXPECT_EQ(message_of("prope:cut=lo"),
            "prope: 'cut' must be one of low, high; got 'lo'; did you mean 'low'?");
}

TEST(Registry, ReadsOptionsAndLaysMasksOverLayers) {
  const PositionPlan plan =
      make_plan("rope:base=500000,layout=interleaved", "window:8/full",
                {.n_layers = 3, .n_heads = 2, .n_kv_heads = 2, .head_dim = 4});
  EXPECT_EQ(plan.layout, PairLayout::Interleaved);
  EXPECT_NEAR(plan.layers[0].inv_freq[0][1], 1 / std::sqrt(500000.0), 1e-18);
  EXPECT_EQ(plan.layers[0].mask, (MaskSpec{8, 1, 0}));
  EXPECT_EQ(plan.layers[1].mask, MaskSpec{});
  EXPECT_EQ(plan.layers[2].mask, (MaskSpec{8, 1, 0}));
}

}  // namespace
}  // namespace gyre::position
