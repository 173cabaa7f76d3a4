// Reports 17 to 21 and 48: positions, frequencies, angles and biases in too few bits.
#include <c10/core/GradMode.h>
#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include "gyre/model/model_testing.h"
#include "gyre/verify/cases/cases_testing.h"

namespace gyre::verify {
namespace {

using position::PositionPlan;

constexpr double kFloatTable = 6.1e-8;  // half a unit of float32 below 1

double bf16(double x) {
  return static_cast<double>(static_cast<float>(c10::BFloat16(static_cast<float>(x))));
}
double fp16(double x) {
  return static_cast<double>(static_cast<float>(c10::Half(static_cast<float>(x))));
}

PositionPlan rope(int64_t head_dim, const std::string& base = "10000") {
  return sound_subject().plan("rope:base=" + base, request_of(head_dim));
}

// EleutherAI/gpt-neox#1003: frequencies and angles in float16.
TEST(Case17, AFloat16TableLosesTheAngle) {
  const auto bands = bands_of(rope(32));
  // The report's angle is that of a frequency already rounded to float32; float64 has less.
  EXPECT_TRUE(rounds_to(1857.0 * static_cast<double>(static_cast<float>(bands[1])), "1044.267854"));
  EXPECT_TRUE(rounds_to(1857.0 * bands[1], "1044.267841"));
  EXPECT_EQ(fp16(1857.0 * fp16(bands[1])), 1045.0);
  double worst = 0.0;
  for (int64_t p = 0; p < 2048; ++p) {
    for (const double theta : bands) {
      const auto position = static_cast<double>(p);
      worst = std::max(
          worst, std::abs(std::cos(fp16(position * fp16(theta))) - std::cos(position * theta)));
    }
  }
  EXPECT_TRUE(rounds_to(worst, "0.7819"));
}

TEST(Case17, TheTableIsExactToItsLastBit) {
  const auto positions = count_from(0, 2048);
  EXPECT_LE(table_error(sound_subject(), rope(32), positions, false), kFloatTable);
  EXPECT_LE(table_error(sound_subject(), rope(32), positions, true), 1e-13);
  const TableRows table = table_rows(sound_subject(), rope(32), {1857}, true);
  EXPECT_NEAR(table.cos[0][1], std::cos(1857.0 * std::pow(1e4, -1.0 / 16.0)), 1e-12);
}

TEST(Case17, TheFaultIsSeen) {
  const auto positions = count_from(0, 2048);
  EXPECT_GE(table_error(faulty_subject("fp16-angles"), rope(32), positions, false), 0.4);
  EXPECT_GE(table_error(faulty_subject("bf16-angles"), rope(32), positions, false), 0.4);
}

TEST(Case17, BeyondFloat16sIntegersTheTableHolds) {
  // Another base and width; float16 has no 30001 (it gives 30000) and ends at 65504.
  EXPECT_EQ(fp16(30001.0), 30000.0);
  EXPECT_TRUE(std::isinf(fp16(70000.0)));
  const auto plan = rope(64, "500000");
  EXPECT_LE(table_error(sound_subject(), plan, {30000, 30001, 65535, 70000}, false), kFloatTable);
}

// transformers PR#29285, #29496, #25681: frequencies cast to bfloat16 with the model.
TEST(Case18, WhatBfloat16AndFloat32FrequenciesLose) {
  double lost = 0.0, lost_single = 0.0;
  for (const double theta : bands_of(rope(128))) {
    lost = std::max(lost, std::abs(bf16(4095.0) * bf16(theta) - 4095.0 * theta));
    const float product = 4095.0F * static_cast<float>(theta);
    lost_single = std::max(lost_single, std::abs(static_cast<double>(product) - 4095.0 * theta));
  }
  EXPECT_EQ(bf16(4095.0), 4096.0);
  EXPECT_TRUE(rounds_to(lost, "5.88"));
  EXPECT_TRUE(rounds_to(lost_single, "1.4e-4"));
}

TEST(Case18, TheTableLosesNeither) {
  EXPECT_LE(table_error(sound_subject(), rope(128), {4095}, false), kFloatTable);
  EXPECT_GE(table_error(faulty_subject("bf16-angles"), rope(128), {4095}, false), 1.0);
  // Other positions and bases at which the same cast hides.
  EXPECT_LE(table_error(sound_subject(), rope(64, "1000000"), {511, 32767, 131071}, false),
            kFloatTable);
}

TEST(Case18, AModelComputingInBfloat16KeepsItsFrequencies) {
  for (const char* scheme : {"rope", "lerope", "yarn:factor=4"}) {
    model::Transformer model = model::make_model(model::small_config(), scheme);
    const auto before = model.current_inv_freq();
    model.set_compute_dtype(at::kBFloat16);
    EXPECT_EQ(model.current_inv_freq(), before) << scheme;
    EXPECT_EQ(before[0][0][1], bands_of(model.plan())[1]) << scheme;
  }
}

TEST(Case18, RowsInBfloat16AreTurnedByTheFullAngle) {
  const auto plan = rope(128);
  Rows unit = zero_rows({1, 1, 1, 128});
  for (int64_t m = 0; m < 64; ++m) {
    unit.at(0, 0, 0, x_channel(plan, m)) = 1.0;
  }
  const Rows out = rotated(sound_subject(), {unit, unit}, {4095}, plan, 0, Precision::BF16).q;
  for (int64_t m = 0; m < 64; ++m) {
    const double theta = std::pow(1e4, -static_cast<double>(m) / 64.0);
    // 2^-9: one rounding of a value below 1 to 8 bits.
    EXPECT_NEAR(out.at(0, 0, 0, x_channel(plan, m)), exact_cos(theta, 4095), 1.0 / 512 + 1e-7);
    EXPECT_NEAR(out.at(0, 0, 0, y_channel(plan, m)), exact_sin(theta, 4095), 1.0 / 512 + 1e-7);
  }
}

// EleutherAI/gpt-neox PR#1016: neighbours merge.
TEST(Case19, Bfloat16HasNo257) {
  EXPECT_EQ(bf16(256.0), 256.0);
  EXPECT_EQ(bf16(257.0), 256.0);
  EXPECT_EQ(bf16(511.0), 512.0);
  EXPECT_EQ(bf16(513.0), 512.0);
  for (int64_t p = 0; p <= 256; ++p) {
    EXPECT_EQ(bf16(static_cast<double>(p)), static_cast<double>(p));
  }
}

TEST(Case19, NeighboursKeepTheirOwnRows) {
  const std::vector<int64_t> positions{256, 257, 511, 513};
  const auto merged = [&](const Subject& subject) {
    const TableRows table = table_rows(subject, rope(32), positions, false);
    return std::pair(table.cos[0] == table.cos[1], table.sin[2] == table.sin[3]);
  };
  EXPECT_EQ(merged(sound_subject()), std::pair(false, false));
  EXPECT_EQ(merged(faulty_subject("bf16-positions")), std::pair(true, true));
  EXPECT_LE(table_error(sound_subject(), rope(32), positions, false), kFloatTable);
}

TEST(Case19, SoDoThoseThatFloat16AndFloat32Merge) {
  EXPECT_EQ(fp16(2049.0), 2048.0);
  EXPECT_EQ(16777217.0F, 16777216.0F);
  const std::vector<int64_t> positions{2048, 2049, 16777216, 16777217};
  const TableRows table = table_rows(sound_subject(), rope(32), positions, false);
  for (const size_t t : {0, 2}) {
    // One token later pair 0 has turned by 1 rad: sin(b - a) = sin b cos a - cos b sin a.
    const double sine =
        table.sin[t + 1][0] * table.cos[t][0] - table.cos[t + 1][0] * table.sin[t][0];
    EXPECT_NEAR(sine, std::sin(1.0), 2e-7);
  }
}

// unslothai/unsloth#4112, transformers#45902, #48892: tables after construction without memory.
TEST(Case20, ATableStartsAtOneAndFalls) {
  for (const char* spec : {"rope", "rope:base=1000000", "yarn:factor=4", "llama3", "ntk:factor=4",
                           "dynamic", "lerope", "xpos"}) {
    const auto bands = bands_of(sound_subject().plan(spec, request_of(128)));
    EXPECT_EQ(bands[0], 1.0) << spec;
    for (size_t m = 1; m < bands.size(); ++m) {
      EXPECT_LT(bands[m], bands[m - 1]) << spec << " pair " << m;
    }
  }
}

TEST(Case20, AModelBuiltWithoutMemoryHasTheRecomputedTable) {
  const model::ModelConfig config = model::small_config();
  const auto plan = position::make_plan("rope", "full", model::plan_request(config, 16));
  const model::Transformer shapes(config, plan, at::kMeta), on_cpu(config, plan);
  EXPECT_EQ(shapes.current_inv_freq(), on_cpu.current_inv_freq());
  for (const auto& layer : shapes.current_inv_freq()) {
    ASSERT_EQ(layer[0].size(), 4U);
    EXPECT_EQ(layer[0][0], 1.0);
    for (size_t m = 0; m < 4; ++m) {
      EXPECT_NEAR(layer[0][m], std::pow(1e4, -static_cast<double>(m) / 4.0), 1e-17) << m;
    }
  }
}

TEST(Case20, ALearnedTableWithoutMemoryIsRefused) {
  const model::ModelConfig config = model::small_config();
  const model::Transformer shapes(
      config, position::make_plan("lerope", "full", model::plan_request(config, 16)), at::kMeta);
  try {
    shapes.current_inv_freq();
    FAIL() << "no error";
  } catch (const c10::ValueError& error) {
    const std::string text = error.what_without_backtrace();
    EXPECT_NE(text.find("of a model of shapes alone; build it on the cpu"), std::string::npos)
        << text;
  }
}

TEST(Case20, NoTableIsAParameterOrLeftFromMemory) {
  const model::ModelConfig config = model::small_config();
  model::Transformer model(config,
                           position::make_plan("rope", "full", model::plan_request(config, 16)));
  const auto before = model.current_inv_freq();
  for (model::Parameter& each : model.parameters()) {
    const c10::NoGradGuard no_grad;
    each.value.fill_(NAN);  // what memory may hold before weights are loaded
  }
  EXPECT_EQ(model.current_inv_freq(), before);
  model.init(1);
  EXPECT_EQ(model.current_inv_freq(), before);
}

TEST(Case20, LearnedTablesStartAtThePlansOwn) {
  const model::ModelConfig config = model::small_config();
  for (const char* scheme : {"lerope", "lerope:share=layer", "lerope:share=head"}) {
    model::Transformer model(config,
                             position::make_plan(scheme, "full", model::plan_request(config, 16)));
    model.init(3);
    for (size_t n = 0; n < model.plan().layers.size(); ++n) {
      EXPECT_EQ(model.current_inv_freq()[n], model.plan().layers[n].inv_freq) << scheme;
    }
  }
}

// Log of the weight of keys 4088 .. 4110 over that of key 4110, under slope 0.5, query 4110.
std::vector<double> log_weights(const Subject& subject, Precision precision) {
  constexpr int64_t kKeys = 4111, kFirst = 4088, kSeen = 23;
  position::LayerPlan layer;
  layer.slopes = {0.5};
  Rows v = zero_rows({1, 1, kKeys, 24});
  for (int64_t j = 0; j < kSeen; ++j) {
    v.at(0, 0, kFirst + j, j) = 1.0;
  }
  const Rows out = attended(subject, {zero_rows({1, 1, 1, 24}), zero_rows({1, 1, kKeys, 24}), v},
                            layer, precision);
  std::vector<double> logs;
  for (int64_t j = 0; j < kSeen; ++j) {
    logs.push_back(std::log(out.at(0, 0, 0, j) / out.at(0, 0, 0, kSeen - 1)));
  }
  return logs;
}

// NVIDIA/TensorRT-Model-Connect#667: bias in bfloat16 from the key's position.
TEST(Case21, Bfloat16HasOneBiasForAllOfThem) {
  for (int64_t key = 4088; key <= 4110; ++key) {
    EXPECT_EQ(bf16(0.5 * static_cast<double>(key)), 2048.0) << key;
  }
}

TEST(Case21, EveryKeyHasItsOwnBias) {
  for (const auto& [precision, tolerance] :
       {std::pair{Precision::F64, 1e-12}, {Precision::F32, 1e-5}, {Precision::BF16, 0.01}}) {
    const auto logs = log_weights(sound_subject(), precision);
    for (size_t j = 0; j < logs.size(); ++j) {
      EXPECT_NEAR(logs[j], -0.5 * static_cast<double>(22 - j), tolerance) << "key " << 4088 + j;
    }
  }
}

TEST(Case21, TheFaultGivesAllOfThemOneWeightAndNamesTheRounding) {
  for (const double log : log_weights(faulty_subject("bias-bf16"), Precision::F64)) {
    EXPECT_NEAR(log, 0.0, 1e-12);
  }
  for (const Fault& fault : faults()) {
    if (fault.name == "bias-bf16") {
      EXPECT_NE(fault.summary.find("in bfloat16 from the key's position"), std::string::npos);
    }
  }
}

// rotary-embedding-torch 0.9.1: a table first made for a bfloat16 call serves a float32 one.
TEST(Case48, AFloat32CallAfterABfloat16OneIsAFreshOne) {
  const auto plan = rope(32);
  const auto positions = count_from(0, 600);
  const Rows x = normal_rows("case 48", {1, 1, 600, 32});
  const Subject used = sound_subject(), fresh = sound_subject();
  rotated(used, {x, x}, positions, plan, 0, Precision::BF16);
  const Rows second = rotated(used, {x, x}, positions, plan, 0, Precision::F32).q;
  const Rows alone = rotated(fresh, {x, x}, positions, plan, 0, Precision::F32).q;
  EXPECT_EQ(max_difference(second, alone), 0.0);
}

TEST(Case48, NeitherDoesADoubleCallSeeAFloat32Table) {
  const auto plan = rope(32);
  const auto positions = count_from(600, 600);
  const auto error_of_second = [&](const Subject& subject) {
    table_error(subject, plan, positions, false);
    return table_error(subject, plan, positions, true);
  };
  EXPECT_LE(error_of_second(sound_subject()), 1e-13);
  EXPECT_GE(error_of_second(faulty_subject("table-keeps-first-dtype")), 1e-9);
}

TEST(Case48, AnglesOfBfloat16PositionsAreRadiansOff) {
  // The shortcut itself: up to 600, bfloat16 has every 2nd, then every 4th position.
  double worst = 0.0;
  for (int64_t p = 0; p < 600; ++p) {
    const auto position = static_cast<double>(p);
    worst = std::max(worst, std::abs(bf16(position) - position));
  }
  EXPECT_EQ(worst, 2.0);
  // The package's own cached angles are off by just that; values of normal rows by 3.34 or more,
  // as they are drawn.
  const Rows x = normal_rows("case 48", {1, 1, 600, 32});
  const auto turned = [&](const Subject& subject) {
    return rotated(subject, {x, x}, count_from(0, 600), rope(32), 0, Precision::F32).q;
  };
  EXPECT_GE(max_difference(turned(faulty_subject("bf16-positions")), turned(sound_subject())), 3.0);
  EXPECT_GE(table_error(faulty_subject("bf16-positions"), rope(32), count_from(0, 600), false),
            1.5);
  EXPECT_LE(table_error(sound_subject(), rope(32), count_from(0, 600), false), kFloatTable);
}

TEST(Case48, AModelThatComputedInBfloat16StartsAfresh) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = model::random_tokens(1, 600, 19, 3);
  model::Transformer model = model::make_model(model::small_config(), "rope");
  const at::Tensor expected = model.forward(tokens);
  model.set_compute_dtype(at::kBFloat16);
  EXPECT_GT(model::max_difference(model.forward(tokens), expected), 0.0);
  model.set_compute_dtype(at::kFloat);
  EXPECT_EQ(model::max_difference(model.forward(tokens), expected), 0.0);
}

}  // namespace
}  // namespace gyre::verify
