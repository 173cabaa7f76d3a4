// Reports 12 to 16: tables that depend on the length of the sequence at hand, and one that does
// not.
#include <c10/core/GradMode.h>

#include <nlohmann/json.hpp>
#include <numbers>

#include "gyre/base/files.h"
#include "gyre/model/model_testing.h"
#include "gyre/verify/battery.h"
#include "gyre/verify/cases/cases_testing.h"

namespace gyre::verify {
namespace {

using position::PositionPlan;

const char* const kDynamic = "dynamic:base=10000,factor=2,original=4096";
const char* const kQwenYarn = "yarn:base=1000000,factor=4,original=32768";

/// The spec of a published model among the tables that the schemes are tested with.
std::string published(const std::string& model) {
  const auto file = nlohmann::json::parse(
      read_file(GYRE_SOURCE_DIR "/src/gyre/position/testdata/frequency_tables.json"));
  for (const auto& table : file["tables"]) {
    if (table["model"] == model) {
      return table["spec"];
    }
  }
  ADD_FAILURE() << "no table of " << model;
  return "rope";
}

model::Transformer model_at(const std::string& spec, int64_t length) {
  const model::ModelConfig config = model::small_config();
  position::PlanRequest request = model::plan_request(config, 8);
  request.length = length;
  model::Transformer model(config, position::make_plan(spec, "full", request), at::kCPU,
                           at::kDouble);
  model.init(7);
  return model;
}

// Eight tokens cached under the table of length 8 are refused by that of 16, and by their own for
// eight more. All under that of 16, in chunks: a fresh run.
void expect_one_table_in_a_model(const std::string& spec) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = model::random_tokens(1, 16, 19, 3);
  const model::Transformer at_8 = model_at(spec, 8), at_16 = model_at(spec, 16);
  EXPECT_NE(at_8.plan(), at_16.plan());
  const at::Tensor fresh = at_16.forward(tokens).narrow(1, 8, 8);
  const auto continued = [&](const model::Transformer& first, const model::Transformer& second) {
    model::KvCache cache(first.config().layers);
    first.forward(tokens.narrow(1, 0, 8), {&cache});
    return second.forward(tokens.narrow(1, 8, 8), {&cache});
  };
  EXPECT_LE(model::max_difference(continued(at_16, at_16), fresh), 1e-12);
  EXPECT_THROW(continued(at_8, at_16), c10::ValueError);
  EXPECT_THROW(continued(at_8, at_8), c10::ValueError);
}

// huggingface/transformers#25104, PR#24653, Jjama3.jl#7
TEST(Case12, TheBaseGrowsWithTheSequence) {
  const auto base_at = [](int64_t length) {
    return std::pow(bands_of(plan_at_length(kDynamic, 128, length))[63], -128.0 / 126.0);
  };
  EXPECT_TRUE(rounds_to(base_at(4096), "10000.000"));
  EXPECT_TRUE(rounds_to(base_at(4097), "10004.960"));
  EXPECT_TRUE(rounds_to(base_at(6144), "20221.262"));
  EXPECT_TRUE(rounds_to(base_at(8192), "30527.737"));
}

TEST(Case12, KeyAndQueryTurnByOneTable) {
  const TableLengths lengths{.when_cached = 4096, .now = 8192, .allocated = 8192};
  const PositionPlan query = plan_at_length(kDynamic, 128, lengths.now);
  const auto phase = [&](const Subject& subject) {
    const PositionPlan key = plan_at_length(kDynamic, 128, subject.table_length(lengths));
    return relative_phase(subject, {query, 8191}, {key, 4000}, 63);
  };
  EXPECT_TRUE(rounds_to(phase(sound_subject()), "0.161323"));
  EXPECT_TRUE(rounds_to(phase(faulty_subject("mixed-dynamic-tables")), "-0.146619"));
}

TEST(Case12, AnotherShapeFollowsTheFormula) {
  // d 64, b 5e5, s 4, M 8192: b (s L / M - (s - 1))^(d / (d - 2)), plain powers.
  for (const int64_t length : {8192, 8193, 20000, 65536}) {
    const double grown = 4.0 * static_cast<double>(length) / 8192.0 - 3.0;
    const double base = 5e5 * std::pow(std::max(grown, 1.0), 64.0 / 62.0);
    const auto plan = plan_at_length("dynamic:base=500000,factor=4,original=8192", 64, length);
    for (size_t m = 0; m < 32; ++m) {
      const double expected = std::pow(base, -static_cast<double>(m) / 32.0);
      EXPECT_NEAR(bands_of(plan)[m], expected, 1e-12 * expected) << length << " pair " << m;
    }
  }
}

TEST(Case12, AModelWithStaleKeysIsNotAFreshRun) {
  expect_one_table_in_a_model("dynamic:base=100,factor=4,original=8");
}

// huggingface/transformers PR#33129, onnxruntime-genai#1161
TEST(Case13, KeyAndQueryTurnByOneList) {
  const std::string spec = published("phi-3-mini-128k-long");
  const PositionPlan now = plan_at_length(spec, 96, 4101);
  const PositionPlan before = plan_at_length(spec, 96, 4001);
  const Subject sound = sound_subject();
  EXPECT_TRUE(rounds_to(relative_phase(sound, {now, 4100}, {now, 4000}, 20), "0.136443"));
  EXPECT_TRUE(rounds_to(relative_phase(sound, {now, 4100}, {now, 4000}, 47), "0.000187"));
  EXPECT_TRUE(rounds_to(relative_phase(sound, {now, 4100}, {before, 4000}, 47), "-0.151225"));
  const double mixed = 4100.0 * bands_of(now)[20] - 4000.0 * bands_of(before)[20];
  EXPECT_TRUE(rounds_to(mixed, "-37.494532"));
  EXPECT_NEAR(relative_phase(sound, {now, 4100}, {before, 4000}, 20),
              std::remainder(mixed, 2.0 * std::numbers::pi), 1e-11);
}

TEST(Case13, TheSwitchIsAtToken4097) {
  const std::string spec = published("phi-3-mini-128k-long");
  const PositionPlan last_short = plan_at_length(spec, 96, 4096);
  const PositionPlan first_long = plan_at_length(spec, 96, 4097);
  EXPECT_EQ(last_short, plan_at_length(spec, 96, 1));
  EXPECT_EQ(first_long, plan_at_length(spec, 96, 131072));
  const double plain = std::pow(1e4, -40.0 / 96.0);  // divisors of the model's config.json
  EXPECT_NEAR(plain / bands_of(last_short)[20], 2.0, 1e-12);
  EXPECT_NEAR(plain / bands_of(first_long)[20], 15.789999961853027, 1e-11);
  EXPECT_EQ(last_short.layers[0].amplitude, first_long.layers[0].amplitude);  // no jump there
}

TEST(Case13, TheRuleAsksForAllKeysAgain) {
  const TableLengths lengths{.when_cached = 4001, .now = 4101, .allocated = 8192};
  EXPECT_EQ(sound_subject().table_length(lengths), 4101);
  EXPECT_EQ(faulty_subject("mixed-dynamic-tables").table_length(lengths), 4001);
  const auto plan = plan_at_length(published("phi-3-mini-128k-long"), 96, 4101);
  EXPECT_NE(plan.length_rule.find("more than 4096 tokens: every query and key"), std::string::npos)
      << plan.length_rule;
}

TEST(Case13, AnotherFamilyIsAsWrongWhenMixed) {
  // Phi-4-mini: 96 of 128 channels, all short divisors 1; the long one of pair 1 is 1.118320672.
  const std::string spec = published("phi-4-mini-long");
  const PositionPlan now = plan_at_length(spec, 128, 4101),
                     before = plan_at_length(spec, 128, 4001);
  const double plain = std::pow(1e4, -2.0 / 96.0);
  const Subject sound = sound_subject();
  EXPECT_NEAR(relative_phase(sound, {now, 4100}, {now, 4000}, 1),
              std::remainder(100.0 * plain / 1.118320672, 2.0 * std::numbers::pi), 1e-10);
  EXPECT_NEAR(relative_phase(sound, {now, 4100}, {before, 4000}, 1),
              std::remainder(4100.0 * plain / 1.118320672 - 4000.0 * plain, 2.0 * std::numbers::pi),
              1e-10);
}

TEST(Case13, AModelWithStaleKeysIsNotAFreshRun) {
  expect_one_table_in_a_model("longrope:base=100,original=8,max=32");
}

// ggml-org/llama.cpp#8995, PR#24875, lablup/mlxcel#1358
TEST(Case14, AShortPromptInALargeCacheTakesTheShortList) {
  const TableLengths lengths{.when_cached = 10, .now = 10, .allocated = 8192};
  const auto pair_47 = [&](const Subject& subject) {
    const std::string spec = published("phi-3-mini-128k-long");
    return bands_of(plan_at_length(spec, 96, subject.table_length(lengths)))[47];
  };
  EXPECT_TRUE(rounds_to(pair_47(sound_subject()), "3.97222183e-05"));
  EXPECT_TRUE(rounds_to(pair_47(faulty_subject("table-by-allocated-length")), "1.86935260e-06"));
}

TEST(Case14, AStaticChoiceIsDeclared) {
  const std::string spec = published("phi-3-mini-128k-long");
  const PositionPlan by_length = plan_at_length(spec, 96, 10);
  const PositionPlan declared = plan_at_length(spec + ",choice=long", 96, 10);
  EXPECT_FALSE(by_length.length_rule.empty());
  EXPECT_TRUE(declared.length_rule.empty());
  EXPECT_TRUE(rounds_to(bands_of(declared)[47], "1.86935260e-06"));
  EXPECT_EQ(declared, plan_at_length(spec + ",choice=long", 96, 100000));
}

TEST(Case14, ADynamicBaseInALargeCacheIsThePlainOne) {
  const TableLengths lengths{.when_cached = 10, .now = 10, .allocated = 8192};
  const auto at_room = [&](const Subject& subject) {
    return plan_at_length(kDynamic, 128, subject.table_length(lengths));
  };
  EXPECT_NEAR(bands_of(at_room(sound_subject()))[63], std::pow(1e4, -126.0 / 128.0), 1e-18);
  EXPECT_LT(bands_of(at_room(faulty_subject("table-by-allocated-length")))[63],
            0.5 * std::pow(1e4, -126.0 / 128.0));
}

TEST(Case14, AnotherFamilyKeepsItsShortList) {
  const std::string spec = published("phi-4-mini-long");
  for (const int64_t length : {1, 10, 4096}) {
    EXPECT_NEAR(bands_of(plan_at_length(spec, 128, length))[47], std::pow(1e4, -94.0 / 96.0),
                1e-18);
  }
  EXPECT_LT(bands_of(plan_at_length(spec, 128, 4097))[47], 0.5 * std::pow(1e4, -94.0 / 96.0));
}

double logit_gain(const Subject& subject, const PositionPlan& plan) {
  const Turned raw{normal_rows("gain q", {1, 1, 1, plan.head_dim}),
                   normal_rows("gain k", {1, 1, 1, plan.head_dim})};
  PositionPlan plain = plan;
  plain.layers[0].amplitude = 1.0;
  const Turned with = rotated(subject, raw, {5}, plan);
  const Turned without = rotated(sound_subject(), raw, {5}, plain);
  return dots(with.q, with.k)[0][0] / dots(without.q, without.k)[0][0];
}

// pytorch/executorch#19235
TEST(Case15, TheAttentionFactorMultipliesLogitsBySquare) {
  const PositionPlan plan = plan_at_length("longrope:original=4096,max=131072", 96, 10);
  EXPECT_TRUE(rounds_to(plan.layers[0].amplitude, "1.190238071"));
  EXPECT_TRUE(rounds_to(logit_gain(sound_subject(), plan), "1.416667"));
  EXPECT_TRUE(rounds_to(logit_gain(faulty_subject("amplitude-missing"), plan), "1.000000"));
}

TEST(Case15, ItHoldsAtEveryLength) {
  for (const char* name : {"phi-4-mini-long", "phi-3-mini-128k-long"}) {
    for (const int64_t length : {10, 4096, 4097, 131072}) {
      const auto plan = plan_at_length(published(name), name[4] == '4' ? 128 : 96, length);
      EXPECT_TRUE(rounds_to(plan.layers[0].amplitude, "1.190238071")) << name << " " << length;
    }
  }
}

TEST(Case15, OtherLengthsFollowTheFormulaAndNoExtensionHasNone) {
  const auto amplitude = [](const std::string& spec) {
    return plan_at_length(spec, 128, 10).layers[0].amplitude;
  };
  // Phi-3-small-128k: ln 8192 = 13 ln 2, ln 16 = 4 ln 2.
  EXPECT_NEAR(amplitude("longrope:original=8192,max=131072"), std::sqrt(17.0 / 13.0), 1e-15);
  EXPECT_EQ(amplitude("longrope:original=4096,max=4096"), 1.0);
  EXPECT_EQ(amplitude("longrope:original=4096,max=131072,attention_factor=1.25"), 1.25);
}

// QwenLM/Qwen3#1567, vllm#18728: no bug, so what must hold is that it is said and stays silent.
TEST(Case16, PairsAboveTheRampsStartMoveAtEveryLength) {
  const PositionPlan plan = plan_at_length(kQwenYarn, 128, 100);
  for (size_t m = 0; m < 64; ++m) {
    const double plain = std::pow(1e6, -static_cast<double>(m) / 64.0);
    if (m <= 23) {  // the ramp is 0 at 23 itself
      EXPECT_NEAR(bands_of(plan)[m], plain, 1e-14 * plain) << m;
    } else {
      EXPECT_LT(bands_of(plan)[m], plain * 0.99) << m;
    }
  }
  EXPECT_TRUE(rounds_to(plan.layers[0].amplitude, "1.138629436"));
}

TEST(Case16, TheTableIsOneForAllLengths) {
  for (const std::string spec : {kQwenYarn, "linear:factor=4", "ntk:factor=4",
                                 "yarn:base=150000,factor=32,original=4096,truncate=false"}) {
    const PositionPlan plan = plan_at_length(spec, 128, 100);
    EXPECT_EQ(plan, plan_at_length(spec, 128, 32768)) << spec;
    EXPECT_EQ(plan, plan_at_length(spec, 128, 131072)) << spec;
    EXPECT_TRUE(plan.length_rule.empty()) << spec;
  }
}

TEST(Case16, NoCheckFindsAFault) {
  for (const char* spec : {"yarn:base=1000000,factor=4,original=64", "linear:factor=4"}) {
    for (const Check& check : check_scheme(sound_subject(), spec)) {
      EXPECT_TRUE(check.result.passed) << spec << ", " << check.id << ": " << check.result.where;
    }
  }
}

}  // namespace
}  // namespace gyre::verify
