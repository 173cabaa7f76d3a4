// Public reports about scaling with length, pairing, layer kinds, masks and amplitude, as far as a
// config shows them. Numbers as in config_cases_test.cpp.
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

// huggingface/transformers#25104
TEST(ScalingCases, DynamicBaseAtTwiceTheLength) {
  const ResolvedModel model = from_text(
      R"({"model_type": "llama", "hidden_size": 4096, "num_attention_heads": 32,
          "num_hidden_layers": 1, "max_position_embeddings": 4096,
          "rope_scaling": {"type": "dynamic", "factor": 2.0}})");
  const LayerKind& all = kind(model, "all");
  EXPECT_EQ(model.original_length, 4096);
  EXPECT_EQ(model.max_length, 8192);
  EXPECT_TRUE(moved_pairs(all, bands_of(all)).empty());  // nothing changes up to 4096
  const double base = 30527.737;
  expect_close(all.long_inv_freq.at(63), std::pow(base, -126.0 / 128.0), 1e-7);
  // key at 4000, query at 8191, one base for both
  EXPECT_NEAR(4191.0 * all.long_inv_freq[63], 0.161323, 5e-7);
  EXPECT_NE(all.length_rule, "");
}

// huggingface/transformers PR#33129; ggml-org/llama.cpp#8995
TEST(ScalingCases, LongRopeHasOneListForEachLength) {
  const ResolvedModel model = fixture("phi-3-mini-128k.json");
  const LayerKind& all = kind(model, "all");
  EXPECT_NEAR(100.0 * all.long_inv_freq.at(20), 0.136443, 5e-7);
  EXPECT_NEAR(100.0 * all.long_inv_freq.at(47), 0.000187, 5e-7);
  EXPECT_NEAR(4100.0 * all.long_inv_freq[20] - 4000.0 * band(all, 20), -37.494532, 5e-7);
  expect_close(band(all, 47), 3.97222183e-05);
  expect_close(all.long_inv_freq[47], 1.86935260e-06);
  EXPECT_NE(all.length_rule.find("4096"), std::string::npos);
}

// pytorch/executorch#19235
TEST(ScalingCases, LongRopesAmplitude) {
  const LayerKind& all = fixture("phi-4-mini.json").kinds.at(0);
  expect_close(all.plan.amplitude, 1.190238071);
  expect_close(all.plan.amplitude * all.plan.amplitude, 1.416667, 5e-7);
  EXPECT_EQ(all.rotary_dim, 96);
  EXPECT_EQ(all.head_dim, 128);
}

// QwenLM/Qwen3#1567: the ramp begins at pair 23, whose share is still 0.
TEST(ScalingCases, StaticYarnMovesPairsAtEveryLength) {
  const ResolvedModel model = fixture("qwen2.5-7b-yarn.json");
  const LayerKind& all = kind(model, "all");
  EXPECT_EQ(ranges(moved_pairs(all, bands_of(all))), "24-63");
  EXPECT_TRUE(all.length_rule.empty());
  const std::string text = describe(model, {});
  EXPECT_NE(text.find("moves pairs 24-63 (40 of 64), at every length, short prompts too; ramp from "
                      "pair 23 to 40"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("1.138629436"), std::string::npos) << text;
}

// mattn/tensai#57, transformers#43756, smollm#130: 1 means "rotates".
TEST(ScalingCases, NoRopeListMarksTheLayersThatRotate) {
  const ResolvedModel model = fixture("smollm3.json");
  EXPECT_EQ(kind(model, "no_rotation").layers,
            (std::vector<int64_t>{3, 7, 11, 15, 19, 23, 27, 31, 35}));
  EXPECT_EQ(kind(model, "full_attention").layers.size(), 27u);
}

TEST(ScalingCases, NoRopeByInterval) {
  const ResolvedModel smol =
      from_text(R"({"model_type": "smollm3", "num_hidden_layers": 8, "no_rope_layers": []})");
  EXPECT_EQ(kind(smol, "no_rotation").layers, (std::vector<int64_t>{3, 7}));
  const ResolvedModel llama4 = from_text(R"({"model_type": "llama4", "text_config":
      {"model_type": "llama4_text", "num_hidden_layers": 8, "rope_theta": 500000.0}})");
  EXPECT_EQ(kind(llama4, "no_rotation").layers, (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(kind(llama4, "no_rotation").plan.query_growth, 0.1);
  EXPECT_EQ(kind(llama4, "chunked_attention").plan.mask.chunk, 8192);
  const ResolvedModel cohere =
      from_text(R"({"model_type": "cohere2", "num_hidden_layers": 8, "rope_theta": 50000})");
  EXPECT_EQ(kind(cohere, "no_rotation").layers, (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(kind(cohere, "sliding_attention").plan.mask.window, 4096);
}

// NVIDIA/TensorRT-LLM#16378
TEST(ScalingCases, GptOssTurnsHalvesOnce) {
  const ResolvedModel model = fixture("gpt-oss-20b.json");
  const LayerKind& full = kind(model, "full_attention");
  EXPECT_EQ(full.layout, position::PairLayout::Halves);
  EXPECT_EQ(10.0 * band(full, 0), 10.0);
  expect_close(full.plan.amplitude, 1.346573590);
}

// pegainfer#820
TEST(ScalingCases, ProportionalExponentsSpreadOverTheHead) {
  const ResolvedModel model = fixture("gemma-4.json");
  const LayerKind& full = kind(model, "full_attention");
  EXPECT_EQ(full.head_dim, 512);
  expect_close(band(full, 1), 0.947463526);
  expect_close(band(full, 63), 0.033376247, 2e-8);
  EXPECT_EQ(band(full, 64), 0.0);
  EXPECT_EQ(kind(model, "sliding_attention").head_dim, 256);
}

TEST(ScalingCases, Gemma4WithoutABlockHasItsClassDefaults) {
  const ResolvedModel model =
      from_text(R"({"model_type": "gemma4_text", "num_hidden_layers": 7, "hidden_size": 2304})");
  expect_close(band(kind(model, "full_attention"), 1), 0.947463526);
  EXPECT_EQ(kind(model, "full_attention").layers, (std::vector<int64_t>{5, 6}));  // last is full
}

// ggml-org/llama.cpp#14367, ollama#13452
TEST(ScalingCases, Gemma3DividesGlobalLayersAlone) {
  const ResolvedModel model = fixture("gemma-3-4b.json");
  EXPECT_EQ(2916.0 * band(kind(model, "full_attention"), 0), 364.5);
  EXPECT_EQ(2916.0 * band(kind(model, "sliding_attention"), 0), 2916.0);
  EXPECT_EQ(kind(model, "full_attention").layers, (std::vector<int64_t>{5, 11, 17, 23, 29}));
  EXPECT_EQ(kind(model, "sliding_attention").plan.mask.window, 1024);
  EXPECT_EQ(kind(model, "full_attention").base, 1e6);
  EXPECT_EQ(kind(model, "sliding_attention").base, 1e4);
}

TEST(ScalingCases, Gemma3InNewKeysAndOlmo3DivideGlobalLayersAlone) {
  const ResolvedModel gemma = from_text(
      R"({"model_type": "gemma3_text", "num_hidden_layers": 12, "rope_parameters": {
          "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
          "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}})");
  EXPECT_EQ(band(kind(gemma, "full_attention"), 0), 0.125);
  EXPECT_EQ(band(kind(gemma, "sliding_attention"), 0), 1.0);
  const ResolvedModel olmo = from_text(
      R"({"model_type": "olmo3", "num_hidden_layers": 8, "max_position_embeddings": 65536,
          "rope_theta": 500000, "rope_scaling": {"rope_type": "yarn", "factor": 8,
          "attention_factor": 1.2079441541679836, "original_max_position_embeddings": 8192}})");
  EXPECT_EQ(kind(olmo, "full_attention").scheme, "yarn");
  expect_close(kind(olmo, "full_attention").plan.amplitude, 1.2079441541679836, 1e-15);
  EXPECT_EQ(kind(olmo, "sliding_attention").scheme, "rope");
}

// transformers#39408, #29623, vllm#3385
TEST(ScalingCases, AWindowCountsTheQueryItself) {
  const ResolvedModel model =
      from_text(R"({"model_type": "mistral", "num_hidden_layers": 1, "sliding_window": 4})");
  const LayerKind& all = kind(model, "all");
  for (int64_t j = 0; j < 12; ++j) {
    EXPECT_EQ(all.plan.mask.sees(10, j), j >= 7 && j <= 10) << j;
  }
  EXPECT_NE(all.window_convention.find("left = 3"), std::string::npos);
}

TEST(ScalingCases, AWindowThatIsSwitchedOff) {
  const ResolvedModel qwen = fixture("qwen2.5-7b-yarn.json");
  EXPECT_EQ(kind(qwen, "all").plan.mask.window, 0);
  EXPECT_NE(ignored_reason(qwen, "sliding_window"), "");
  const ResolvedModel on = from_text(
      R"({"model_type": "qwen2", "num_hidden_layers": 4, "use_sliding_window": true,
          "sliding_window": 100, "max_window_layers": 3})");
  EXPECT_EQ(kind(on, "sliding_attention").layers, (std::vector<int64_t>{3}));
}

// bomri/SlowFast#5: transformers counts both sides together.
TEST(ScalingCases, LongformersWindowIsTotal) {
  const ResolvedModel model = from_text(
      R"({"model_type": "longformer", "num_hidden_layers": 1, "attention_window": [18]})");
  const LayerKind& one = model.kinds.at(0);
  EXPECT_EQ(one.plan.mask.window, 10);  // 9 before and itself
  EXPECT_NE(one.window_convention.find("= 19 keys"), std::string::npos) << one.window_convention;
}

// paiml/aprender#2143, meta-pytorch/attention-gym#86
TEST(ScalingCases, AlibiOfBloomMptAndFalcon) {
  const ResolvedModel bloom =
      from_text(R"({"model_type": "bloom", "hidden_size": 64, "n_head": 8, "n_layer": 2})");
  EXPECT_EQ(kind(bloom, "all").plan.slopes.front(), 0.5);
  EXPECT_EQ(kind(bloom, "all").plan.slopes.back(), 0.00390625);
  const ResolvedModel mpt = from_text(R"({"model_type": "mpt", "d_model": 64, "n_heads": 8,
      "n_layers": 2, "attn_config": {"alibi": true, "alibi_bias_max": 16}})");
  EXPECT_EQ(kind(mpt, "all").plan.slopes.front(), 0.25);  // 2^(-16/8)
  // Falcon adds the bias before it divides by sqrt(64).
  const ResolvedModel falcon = from_text(R"({"model_type": "falcon", "hidden_size": 512,
      "num_attention_heads": 8, "num_hidden_layers": 2, "alibi": true})");
  EXPECT_EQ(kind(falcon, "all").plan.slopes.front(), 0.0625);
  const ResolvedModel turns = from_text(R"({"model_type": "falcon", "hidden_size": 512,
      "num_attention_heads": 8, "num_hidden_layers": 2, "alibi": false})");
  EXPECT_EQ(kind(turns, "all").scheme, "rope");
}

TEST(ScalingCases, LearnedPositionsSaySo) {
  const ResolvedModel model =
      from_text(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12})");
  EXPECT_EQ(model.kinds.at(0).name, "learned_absolute");
  EXPECT_NE(model.kinds[0].length_rule.find("1024 absolute positions"), std::string::npos);
}

// DeepSeek: amplitude 1, and a factor on the softmax scale (0.1 ln 40 + 1)^2.
TEST(ScalingCases, DeepSeeksSoftmaxScale) {
  const LayerKind& all = fixture("deepseek-v3.json").kinds.at(0);
  EXPECT_EQ(all.plan.amplitude, 1.0);
  expect_close(all.plan.logit_scale, std::pow(0.1 * std::log(40.0) + 1.0, 2), 1e-14);
  EXPECT_EQ(all.layout, position::PairLayout::Interleaved);
}

// Own finding on transformers 5.18, the same in 5.24.
TEST(ScalingCases, LlamaWithTheDefaultTypeDoesNotReadThePartialFactor) {
  const std::string head = R"({"head_dim": 64, "hidden_size": 512, "num_attention_heads": 8,
      "num_hidden_layers": 1, "partial_rotary_factor": 0.5, "model_type": )";
  for (const char* family : {"\"llama\"", "\"qwen2\"", "\"smollm3\""}) {
    const ResolvedModel model = from_text(head + family + "}");
    EXPECT_EQ(model.kinds.at(0).n_pairs(), 32);
    EXPECT_NE(
        ignored_reason(model, "partial_rotary_factor").find("32 pairs rotate, the key asks for 16"),
        std::string::npos)
        << family;
  }
  // Extended types honour it, and so do classes that read it.
  EXPECT_EQ(from_text(head + R"("llama", "rope_scaling": {"type": "linear", "factor": 2}})")
                .kinds.at(0)
                .n_pairs(),
            16);
  EXPECT_EQ(from_text(head + "\"phi\"}").kinds.at(0).n_pairs(), 16);
}

// Own finding on transformers 5.18: accepted with at most a line in the log.
TEST(ScalingCases, SettingsThatMakeNoTableAreTold) {
  const auto block = [](const std::string& text) {
    return from_text(R"({"model_type": "llama", "head_dim": 64, "num_hidden_layers": 1,
        "max_position_embeddings": 8192, "rope_scaling": {)" +
                     text + "}}");
  };
  EXPECT_NE(ignored_reason(block(R"("rope_type": "yarm", "factor": 4)"), "rope_scaling.rope_type"),
            "");
  EXPECT_EQ(ignored_reason(block(R"("rope_type": "linear", "facter": 4)"), "rope_scaling.facter"),
            "no reader that gyre knows reads it; did you mean 'factor'?");
  EXPECT_NE(ignored_reason(block(R"("rope_type": "linear", "factor": 0.25)"), "rope type"), "");
  const ResolvedModel crossed = block(R"("rope_type": "llama3", "factor": 8, "low_freq_factor": 4,
      "high_freq_factor": 1, "original_max_position_embeddings": 1024)");
  EXPECT_NE(ignored_reason(crossed, "rope type").find("'high' must not be below 'low'"),
            std::string::npos);
  EXPECT_EQ(crossed.kinds.at(0).scheme, "rope");
}

}  // namespace
}  // namespace gyre::inspect
