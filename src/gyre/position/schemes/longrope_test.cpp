// Tests of schemes/longrope.cpp: formula, options, messages.
#include <nlohmann/json.hpp>

#include "gyre/base/files.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

// The spec of a published model, with its two lists.
std::string published(const std::string& model) {
  const auto file = nlohmann::json::parse(
      read_file(GYRE_SOURCE_DIR "/src/gyre/position/testdata/frequency_tables.json"));
  for (const auto& table : file["tables"]) {
    if (table["model"] == model) {
      return table["spec"];
    }
  }
  ADD_FAILURE() << "no table " << model;
  return "longrope";
}

std::vector<double> at(int64_t length, const std::string& more = "") {
  return bands_of(published("phi-3-mini-128k-short") + more, {.head_dim = 96, .length = length});
}

TEST(LongRope, SwitchesListsAtTheOriginalLength) {
  // ggml-org/llama.cpp#8995: a short prompt has the short list, f47 = 3.97222183e-05, whatever is
  // allocated; beyond 4096 tokens 1.86935260e-06.
  for (const int64_t length : {0, 10, 4096}) {
    EXPECT_NEAR(at(length)[47], 3.97222183e-05, 5e-14) << length;
  }
  for (const int64_t length : {4097, 131072}) {
    EXPECT_NEAR(at(length)[47], 1.86935260e-06, 5e-15) << length;
  }
}

TEST(LongRope, OneListForAllKeysIsNotTheMixOfTwo) {
  // transformers PR#33129: key 4000, query 4100.
  const auto shorts = at(4096), longs = at(4100);
  EXPECT_NEAR(100 * longs[20], 0.136443, 5e-7);
  EXPECT_NEAR(4100 * longs[20] - 4000 * shorts[20], -37.494532, 5e-7);
  EXPECT_NEAR(100 * longs[47], 0.000187, 5e-7);
  EXPECT_NEAR(4100 * longs[47] - 4000 * shorts[47], -0.151225, 5e-7);
}

TEST(LongRope, StatesItsRuleAndADeclaredStaticChoice) {
  const auto plan = make_plan(published("phi-3-mini-128k-short"), "full", {.head_dim = 96});
  EXPECT_EQ(plan.length_rule,
            "a sequence of more than 4096 tokens: every query and key is rotated with the long "
            "list; shorter ones: with the short list");
  EXPECT_EQ(plan.holds_to, 4096);
  EXPECT_EQ(at(10, ",choice=long"), at(5000));
  EXPECT_EQ(at(5000, ",choice=short"), at(10));
  const auto fixed =
      make_plan(published("phi-3-mini-128k-short") + ",choice=long", "full", {.head_dim = 96});
  EXPECT_EQ(fixed.length_rule, "");
  EXPECT_EQ(fixed.holds_to, 0);
}

// Phi 3.5 MoE gives each list its own amplitude: that of the list in force.
TEST(LongRope, EachListMayHaveItsAmplitude) {
  const auto plan_for = [](int64_t length) {
    return make_plan(
        "longrope:original=16,factor=4,attention_factor=1.25,long_attention_factor=1.5", "full",
        {.head_dim = 8, .length = length});
  };
  EXPECT_EQ(plan_for(16).layers[0].amplitude, 1.25);
  EXPECT_EQ(plan_for(17).layers[0].amplitude, 1.5);
  EXPECT_EQ(plan_for(17).holds_to, 0);
  EXPECT_EQ(plan_for(16).length_rule,
            "a sequence of more than 16 tokens: every query and key is rotated with the long list "
            "and amplitude 1.5 in place of 1.25; shorter ones: with the short list");
}

TEST(LongRope, AmplitudeComesFromTheExtension) {
  // pytorch/executorch#19235: sqrt(1 + ln 32 / ln 4096) = 1.190238071 at every length.
  for (const int64_t length : {10, 5000}) {
    const auto plan =
        make_plan(published("phi-4-mini-short"), "full", {.head_dim = 128, .length = length});
    EXPECT_NEAR(plan.layers[0].amplitude, 1.190238071, 5e-10);
    EXPECT_EQ(plan.rotary_dim, 96);
  }
  EXPECT_EQ(make_plan("longrope:original=64,attention_factor=1.5", "full", {.head_dim = 8})
                .layers[0]
                .amplitude,
            1.5);
  EXPECT_EQ(make_plan("longrope:original=64,factor=1", "full", {.head_dim = 8}).layers[0].amplitude,
            1.0);
}

TEST(LongRope, WithoutListsIsPlainThenLinear) {
  EXPECT_EQ(bands_of("longrope:original=64", {.head_dim = 8, .length = 64}), bands_of("rope", 8));
  EXPECT_EQ(bands_of("longrope:original=64,max=512", {.head_dim = 8, .length = 65}),
            bands_of("linear:factor=8", 8));
}

TEST(LongRope, DividesLearnedFrequencies) {
  const TemporaryRun run("[[[0.5,0.25]]]");
  expect_close(
      bands_of("longrope:original=64,long=[2,5],from=" + run.path(), {.head_dim = 4, .length = 65}),
      {0.25, 0.05});
}

TEST(LongRope, RefusesBadOptions) {
  const PlanRequest request{.head_dim = 4, .train_length = 64};
  expect_usage_error("longrope:short=[1,2,3]", request,
                     "longrope: 'short' has 3 divisors, there are 2 pairs");
  expect_usage_error("longrope:long=[1,0]", request,
                     "longrope: 'long' must hold numbers above 0, got 0");
  expect_usage_error("longrope:max=32", request, "longrope: 'factor' must be 1 or more, got 0.5");
  expect_usage_error("longrope", {.head_dim = 4},
                     "longrope: 'original' must be the training length in tokens, got 0 and the "
                     "model's own is not known");
}

}  // namespace
}  // namespace gyre::position
