// Public reports about reading a config, each with the number that is right (float64, computed
// apart from gyre) and with neighbours: the same mistake in another family or another place.
#include <cmath>
#include <numbers>

#include "gyre/inspect/test_models.h"

namespace gyre::inspect {
namespace {

using testing::band;
using testing::expect_close;
using testing::fixture;
using testing::from_text;
using testing::ignored_reason;
using testing::kind;
using testing::origin_of;

const LayerKind& only(const ResolvedModel& model) {
  EXPECT_EQ(model.kinds.size(), 1u);
  return model.kinds.at(0);
}

// A llama-like config of head dim 128 with what the test adds.
std::string llama(const std::string& more) {
  return R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
             "num_hidden_layers": 2, )" +
         more + "}";
}

int64_t count_divided(const LayerKind& kind, double by) {
  int64_t n = 0;
  const auto plain = unextended_bands(kind);
  for (size_t m = 0; m < plain.size(); ++m) {
    n += std::abs(plain[m] / bands_of(kind)[m] / by - 1.0) < 1e-12 ? 1 : 0;
  }
  return n;
}

void expect_llama31(const ResolvedModel& model) {
  const LayerKind& all = only(model);
  EXPECT_EQ(all.scheme, "llama3");
  EXPECT_EQ(model.original_length, 8192);
  EXPECT_EQ(moved_pairs(all, bands_of(all)).size(), 35u);  // 29 of 64 kept
  EXPECT_EQ(count_divided(all, 8.0), 29);                  // and 6 blended
  expect_close(band(all, 63), 3.06892599e-07);
}

// meta-llama/llama3#299, foundation-model-stack#384
TEST(ConfigCases, Llama3BlockIsAccepted) {
  expect_llama31(fixture("llama-3.1-8b.json"));
}

TEST(ConfigCases, Llama3BlockInNewKeysAndOfAnUnknownType) {
  const std::string block =
      R"("max_position_embeddings": 131072, "rope_parameters": {"rope_type": "llama3",
         "rope_theta": 500000.0, "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
         "original_max_position_embeddings": 8192})";
  expect_llama31(from_text(llama(block)));
  const ResolvedModel unknown = from_text(
      R"({"model_type": "brand_new", "head_dim": 128, "num_hidden_layers": 2, )" + block + "}");
  EXPECT_FALSE(unknown.known_type);
  expect_llama31(unknown);
}

std::string yarn40960(const std::string& factor) {
  return R"({"model_type": "qwen3", "head_dim": 128, "hidden_size": 4096,
      "num_attention_heads": 32, "num_hidden_layers": 36, "max_position_embeddings": 40960,
      "rope_theta": 1000000, "rope_scaling": {"rope_type": "yarn", )" +
         factor + R"( "original_max_position_embeddings": 32768}})";
}

// huggingface/transformers#38224
TEST(ConfigCases, ExplicitFactorWinsOverTheRatioOfLengths) {
  const ResolvedModel model = from_text(yarn40960("\"factor\": 4.0,"));
  EXPECT_EQ(only(model).factor, 4.0);
  expect_close(only(model).plan.amplitude, 1.138629436);
  EXPECT_EQ(model.max_length, 40960);
  EXPECT_EQ(origin_of(model, only(model), "factor"), "rope_scaling.factor");
}

TEST(ConfigCases, AMissingFactorIsTheRatioOfLengths) {
  const ResolvedModel model = from_text(yarn40960(""));
  EXPECT_EQ(only(model).factor, 1.25);
  expect_close(only(model).plan.amplitude, 1.022314355);
}

TEST(ConfigCases, ExplicitFactorWinsForLongRopeToo) {
  const ResolvedModel model = from_text(
      R"({"model_type": "phi3", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1,
          "max_position_embeddings": 8192, "original_max_position_embeddings": 4096,
          "rope_scaling": {"type": "longrope", "factor": 32, "short_factor": [1, 1, 1, 1],
                           "long_factor": [1, 2, 3, 4]}})");
  expect_close(only(model).plan.amplitude, 1.190238071);
}

// vllm-project/vllm#27722
TEST(ConfigCases, TruncateFalseKeepsTheRampsEnds) {
  const ResolvedModel model = fixture("gpt-oss-20b.json");
  ASSERT_EQ(model.kinds.size(), 2u);
  for (const LayerKind& one : model.kinds) {
    EXPECT_NEAR(one.ramp_low, 8.092779115512402, 1e-12);
    EXPECT_NEAR(one.ramp_high, 17.39802450158856, 1e-12);
  }
  // Rounded bounds make pair 17 1.763 times too fast.
  const ResolvedModel rounded = from_text(
      R"({"model_type": "gpt_oss", "num_hidden_layers": 2, "rope_parameters": {"rope_type": "yarn",
          "factor": 32, "rope_theta": 150000, "truncate": true,
          "original_max_position_embeddings": 4096}})");
  const LayerKind& other = kind(rounded, "full_attention");
  EXPECT_EQ(other.ramp_low, 8.0);
  EXPECT_EQ(other.ramp_high, 18.0);
  EXPECT_NEAR(band(other, 17) / band(kind(model, "full_attention"), 17), 1.763, 5e-4);
}

TEST(ConfigCases, GptOssWithoutABlockHasItsClassDefault) {
  const ResolvedModel model = from_text(R"({"model_type": "gpt_oss", "num_hidden_layers": 2})");
  EXPECT_NEAR(model.kinds.at(0).ramp_low, 8.092779115512402, 1e-12);
  EXPECT_EQ(origin_of(model, model.kinds[0], "truncate"), "GptOssConfig");
}

std::string yarn(const std::string& more) {
  return llama(R"("max_position_embeddings": 131072, "rope_theta": 10000, "rope_scaling":
      {"type": "yarn", "original_max_position_embeddings": 4096, )" +
               more + "}");
}

// vllm-project/vllm#46280, ml-explore/mlx-lm#1507; Avarok-Cybersecurity/atlas#342
TEST(ConfigCases, ExplicitAttentionFactorIsTheAmplitude) {
  EXPECT_EQ(only(from_text(yarn(R"("factor": 64, "attention_factor": 1.0)"))).plan.amplitude, 1.0);
  EXPECT_EQ(only(from_text(yarn(R"("factor": 16, "attention_factor": 1.0)"))).plan.amplitude, 1.0);
  expect_close(only(from_text(yarn(R"("factor": 64)"))).plan.amplitude, 1.415888308);
  expect_close(only(from_text(yarn(R"("factor": 16)"))).plan.amplitude, 1.277258872);
}

TEST(ConfigCases, ExplicitAttentionFactorWinsOverMscaleAndOverLongRopesOwn) {
  EXPECT_EQ(only(from_text(yarn(R"("factor": 40, "mscale": 1.0, "mscale_all_dim": 0.5,
                                   "attention_factor": 1.25)")))
                .plan.amplitude,
            1.25);
  const ResolvedModel longrope = from_text(
      R"({"model_type": "phi3", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1,
          "max_position_embeddings": 131072, "original_max_position_embeddings": 4096,
          "rope_scaling": {"type": "su", "attention_factor": 1.0, "short_factor": [1, 1, 1, 1],
                           "long_factor": [1, 2, 3, 4]}})");
  EXPECT_EQ(only(longrope).plan.amplitude, 1.0);
}

// NVIDIA/Megatron-LM#1418
TEST(ConfigCases, YarnUsesTheOriginalLengthNotTheTables) {
  const LayerKind& all = fixture("qwen2.5-7b-yarn.json").kinds.at(0);
  EXPECT_EQ(all.ramp_low, 23.0);
  EXPECT_EQ(all.ramp_high, 40.0);
}

TEST(ConfigCases, OriginalLengthIsReadAtTheTopToo) {
  const ResolvedModel model = from_text(
      llama(R"("max_position_embeddings": 131072, "original_max_position_embeddings": 32768,
               "rope_theta": 1000000, "rope_scaling": {"type": "yarn", "factor": 4})"));
  EXPECT_EQ(only(model).ramp_low, 23.0);
  EXPECT_EQ(only(model).ramp_high, 40.0);
}

// vllm-project/vllm#56446
TEST(ConfigCases, AnAliasIsYarnAndTheMaximumIsNotMultipliedAgain) {
  const ResolvedModel model = from_text(
      llama(R"("max_position_embeddings": 131072, "rope_scaling": {"type": "deepseek_yarn",
               "factor": 40, "original_max_position_embeddings": 4096})"));
  EXPECT_EQ(only(model).scheme, "yarn");
  EXPECT_EQ(only(model).rope_type, "deepseek_yarn");
  EXPECT_EQ(model.max_length, 131072);
}

TEST(ConfigCases, AMaximumThatWasNotRaisedIsMultiplied) {
  EXPECT_EQ(fixture("qwen2.5-7b-yarn.json").max_length, 131072);
  EXPECT_EQ(fixture("deepseek-v3.json").max_length, 163840);
  EXPECT_EQ(fixture("phi-4-mini.json").max_length, 131072);
}

// huggingface/transformers#48241
TEST(ConfigCases, RotaryDimOfMiniMaxM2) {
  const ResolvedModel model = from_text(
      R"({"model_type": "minimax_m2", "head_dim": 128, "hidden_size": 3072,
          "num_attention_heads": 48, "num_hidden_layers": 62, "rope_theta": 5000000,
          "rotary_dim": 64})");
  EXPECT_EQ(only(model).n_pairs(), 32);
  expect_close(band(only(model), 1), 0.617528758);
  expect_close(band(only(model), 31), 3.23871556e-07);
}

TEST(ConfigCases, RotaryDimOfGptJAndOfAnUnknownType) {
  const ResolvedModel gptj = from_text(
      R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16, "n_layer": 28, "rotary_dim": 64})");
  EXPECT_EQ(only(gptj).head_dim, 256);
  EXPECT_EQ(only(gptj).n_pairs(), 32);
  EXPECT_EQ(only(gptj).layout, position::PairLayout::Interleaved);
  const ResolvedModel unknown = from_text(
      R"({"model_type": "x", "head_dim": 128, "num_hidden_layers": 1, "rotary_dim": 64})");
  EXPECT_EQ(only(unknown).n_pairs(), 32);
}

// chrishayuk/larql#404
TEST(ConfigCases, PartialFactorInsideTheBlock) {
  const ResolvedModel model = from_text(
      R"({"head_dim": 64, "num_hidden_layers": 1, "rope_parameters": {"rope_type": "default",
          "rope_theta": 10000.0, "partial_rotary_factor": 0.25}})");
  EXPECT_EQ(only(model).n_pairs(), 8);
}

TEST(ConfigCases, TheNestedPartialFactorWinsAndTheConflictIsTold) {
  const ResolvedModel model = from_text(
      R"({"model_type": "glm4", "head_dim": 64, "num_hidden_layers": 1,
          "partial_rotary_factor": 0.5, "rope_parameters": {"rope_type": "default",
          "rope_theta": 10000.0, "partial_rotary_factor": 0.25}})");
  EXPECT_EQ(only(model).n_pairs(), 8);
  EXPECT_EQ(ignored_reason(model, "partial_rotary_factor"),
            "shadowed by rope_parameters.partial_rotary_factor = 0.25");
}

TEST(ConfigCases, PartialFactorOfNeoXAndOfAMultimodalFile) {
  const ResolvedModel neox = from_text(
      R"({"model_type": "gpt_neox", "hidden_size": 1024, "num_attention_heads": 16,
          "num_hidden_layers": 24, "rotary_pct": 0.25, "rotary_emb_base": 10000})");
  EXPECT_EQ(only(neox).n_pairs(), 8);
  const ResolvedModel nested = from_text(
      R"({"text_config": {"model_type": "glm4", "head_dim": 128, "num_hidden_layers": 2,
          "partial_rotary_factor": 0.25}})");
  EXPECT_EQ(only(nested).n_pairs(), 16);
}

// AI-Hypercomputer/maxtext#4616: channels 4..15 of 16 lie outside the pairs.
TEST(ConfigCases, PartialFactorLeavesTheTailAlone) {
  const ResolvedModel model =
      from_text(R"({"head_dim": 16, "num_hidden_layers": 1, "partial_rotary_factor": 0.25})");
  EXPECT_EQ(only(model).rotary_dim, 4);
}

// huggingface/candle#2358
TEST(ConfigCases, HeadDimIsNotHiddenOverHeads) {
  const ResolvedModel nemo = from_text(
      R"({"model_type": "mistral", "hidden_size": 5120, "num_attention_heads": 32,
          "head_dim": 128, "num_hidden_layers": 40, "rope_theta": 1000000.0,
          "sliding_window": null})");
  EXPECT_EQ(only(nemo).n_pairs(), 64);
  expect_close(band(only(nemo), 1), 0.805842188);
  EXPECT_EQ(only(nemo).plan.mask.window, 0);  // null turns the class's 4096 off
}

TEST(ConfigCases, HeadDimOfTheClassWhenTheFileHasNone) {
  const ResolvedModel gemma =
      from_text(R"({"model_type": "gemma", "hidden_size": 3072, "num_attention_heads": 16})");
  EXPECT_EQ(only(gemma).head_dim, 256);  // 3072 / 16 = 192
  EXPECT_EQ(only(fixture("deepseek-v3.json")).head_dim, 64);
}

// JIA-Lab-research/LongLoRA#181
TEST(ConfigCases, LinearBlockOfAnEightThousandTokenModel) {
  const ResolvedModel model = from_text(llama(
      R"("max_position_embeddings": 8192, "rope_scaling": {"type": "linear", "factor": 2.0})"));
  expect_close(band(only(model), 1), 0.432982162);
}

}  // namespace
}  // namespace gyre::inspect
