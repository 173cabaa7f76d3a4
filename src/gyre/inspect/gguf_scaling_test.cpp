// Extension in GGUF files: divisor tables, yarn, linear, longrope, the softmax scale. Single
// numbers come from the public reports named at each test, or from a calculation by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gyre/inspect/gguf_architectures.h"
#include "gyre/inspect/gguf_reader_testing.h"

namespace gyre::inspect {
namespace {

using position::PairLayout;
using tensor::GgufBuilder;

// ggml-org/llama.cpp#8650, vllm-project/vllm#7268: rope_freqs must be written and must be read.
TEST(GgufScaling, ConsumesRopeFreqs) {
  const std::vector<float> divisors = divisors_of("llama-3.1-8b");
  ASSERT_EQ(divisors.size(), 64U);
  EXPECT_EQ(std::count(divisors.begin(), divisors.begin() + 29, 1.0F), 29);
  EXPECT_EQ(std::count(divisors.end() - 29, divisors.end(), 8.0F), 29);
  const ResolvedModel model = resolved(
      model_of("llama").f32("llama.rope.freq_base", 5e5F).floats("rope_freqs.weight", divisors));
  const LayerKind& kind = model.kinds.at(0);
  EXPECT_EQ(kind.scheme, "llama3");
  EXPECT_EQ(kind.factor, 8.0);
  expect_table(kind, "llama-3.1-8b", 1e-7);  // divisors are floats
  EXPECT_NEAR(kind.plan.inv_freq[0][63], 3.06892599e-07, 1e-14);
  expect_rebuilt(kind, 1e-6);
  ASSERT_EQ(model.tables.size(), 1U);
  EXPECT_EQ(model.tables[0].name, "rope_freqs.weight");
  EXPECT_EQ(model.tables[0].dtype, "F32");
  EXPECT_EQ(model.original_length, 0);  // GGUF has no key for it
  EXPECT_EQ(origin(kind.origins, "frequencies")->origin.kind, OriginKind::Tensor);
}

TEST(GgufScaling, EveryTableThroughItsDivisors) {
  for (const std::string name : {"llama-3.2-1b", "gemma-7b-prope-0.75", "lerope-demo-64",
                                 "llama-7b-ntk-parts4", "llama-2-7b-ntk4"}) {
    const auto entry = table(name);
    const auto model = resolved(model_of("llama", entry.at("head_dim").get<uint32_t>())
                                    .f32("llama.rope.freq_base", entry.at("base").get<float>())
                                    .floats("rope_freqs.weight", divisors_of(name)));
    expect_table(model.kinds.at(0), name, 2e-7);
  }
}

TEST(GgufScaling, HugeDivisorsStopPairs) {
  const ResolvedModel model =
      resolved(model_of("gemma4", 512)
                   .f32("gemma4.rope.freq_base", 1e6F)
                   .f32("gemma4.rope.freq_base_swa", 1e4F)
                   .u32("gemma4.attention.key_length", 512)
                   .u32("gemma4.attention.key_length_swa", 256)
                   .u32("gemma4.attention.sliding_window", 512)
                   .booleans("gemma4.attention.sliding_window_pattern", {1, 1, 1, 0})
                   .floats("rope_freqs.weight", divisors_of("gemma-4-global")));
  ASSERT_EQ(model.kinds.size(), 2U);
  const LayerKind &local = model.kinds[0], &full = model.kinds[1];
  EXPECT_EQ(local.name, "sliding_attention");
  EXPECT_EQ(local.layers, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(local.head_dim, 256);
  EXPECT_EQ(local.plan.mask.window, 512);
  EXPECT_EQ(local.scheme, "rope");
  expect_table(local, "gemma-4-local");
  EXPECT_EQ(full.name, "full_attention");
  EXPECT_EQ(full.scheme, "proportional");
  expect_table(full, "gemma-4-global");
  EXPECT_EQ(full.plan.inv_freq[0][255], 0.0);
  expect_rebuilt(full);
  EXPECT_DOUBLE_EQ(full.plan.logit_scale, std::sqrt(512.0));  // scores are not divided
}

TEST(GgufScaling, RefusesTablesThatDoNotFit) {
  auto short_table = resolved(model_of("llama").floats("rope_freqs.weight", {1, 2}));
  EXPECT_EQ(short_table.ignored.at(0).key, "rope_freqs.weight");
  EXPECT_EQ(short_table.ignored.at(0).reason, "it has 2 divisors, there are 64 pairs");
  EXPECT_EQ(short_table.kinds.at(0).scheme, "rope");
  EXPECT_EQ(short_table.tables.size(), 1U);
  std::vector<float> zeros(64, 1.0F);
  zeros[5] = 0.0F;
  EXPECT_EQ(resolved(model_of("llama").floats("rope_freqs.weight", zeros)).ignored.at(0).reason,
            "divisor of pair 5 is 0");
}

// ggml-org/llama.cpp#13322: yarn keys must arrive. Amplitude 0.1 ln 4 + 1.
TEST(GgufScaling, Yarn) {
  const ResolvedModel model =
      resolved(model_of("qwen3moe")
                   .f32("qwen3moe.rope.freq_base", 1e6F)
                   .text("qwen3moe.rope.scaling.type", "yarn")
                   .f32("qwen3moe.rope.scaling.factor", 4.0F)
                   .u32("qwen3moe.rope.scaling.original_context_length", 32768));
  const LayerKind& kind = model.kinds.at(0);
  EXPECT_EQ(kind.scheme, "yarn");
  EXPECT_EQ(kind.rope_type, "yarn");
  EXPECT_EQ(kind.factor, 4.0);
  EXPECT_EQ(model.original_length, 32768);
  EXPECT_EQ(kind.ramp_low, 23.0);
  EXPECT_EQ(kind.ramp_high, 40.0);
  EXPECT_NEAR(kind.plan.amplitude, 1.138629436111989, 1e-12);
  expect_table(kind, "qwen2.5-7b-yarn4");
  expect_rebuilt(kind);
}

// vllm-project/vllm#27722: gpt-oss asks for unrounded bounds; GGUF cannot say so and ggml rounds.
TEST(GgufScaling, GptOssBoundsAreRounded) {
  const ResolvedModel model =
      resolved(model_of("gpt-oss", 64)
                   .f32("gpt-oss.rope.freq_base", 150000.0F)
                   .text("gpt-oss.rope.scaling.type", "yarn")
                   .f32("gpt-oss.rope.scaling.factor", 32.0F)
                   .u32("gpt-oss.rope.scaling.original_context_length", 4096)
                   .u32("gpt-oss.attention.sliding_window", 128));
  ASSERT_EQ(model.kinds.size(), 2U);
  EXPECT_EQ(model.kinds[0].layers, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(model.kinds[0].plan.mask.window, 128);
  EXPECT_EQ(model.kinds[1].ramp_low, 8.0);
  EXPECT_EQ(model.kinds[1].ramp_high, 18.0);
  EXPECT_NEAR(model.kinds[0].plan.amplitude, 1.346573590, 1e-9);
}

// ggml-org/llama.cpp#14367: position 2916 is angle 364.5 on global layers, 2916 on local ones.
TEST(GgufScaling, Gemma3ScalesGlobalLayersOnly) {
  const ResolvedModel model = resolved(model_of("gemma3", 256, 12)
                                           .f32("gemma3.rope.freq_base", 1e6F)
                                           .text("gemma3.rope.scaling.type", "linear")
                                           .f32("gemma3.rope.scaling.factor", 8.0F)
                                           .u32("gemma3.attention.sliding_window", 1024));
  ASSERT_EQ(model.kinds.size(), 2U);
  const LayerKind &local = model.kinds[0], &global = model.kinds[1];
  EXPECT_EQ(global.layers, (std::vector<int64_t>{5, 11}));
  EXPECT_DOUBLE_EQ(2916 * global.plan.inv_freq[0][0], 364.5);
  EXPECT_DOUBLE_EQ(2916 * local.plan.inv_freq[0][0], 2916.0);
  expect_table(global, "gemma-3-4b-global");
  expect_table(local, "gemma-3-local");
  EXPECT_EQ(global.scheme, "linear");
  EXPECT_EQ(local.factor, 1.0);
  expect_rebuilt(global);
  // ollama/ollama#12348: a file without the factor is believed.
  const ResolvedModel plain = resolved(model_of("gemma3", 256, 12)
                                           .f32("gemma3.rope.freq_base", 1e6F)
                                           .u32("gemma3.attention.sliding_window", 1024));
  expect_table(plain.kinds.at(1), "gemma-3-1b-global");
}

// ggml-org/llama.cpp#8995: the list is chosen by the context that is allocated.
TEST(GgufScaling, LongRope) {
  const ResolvedModel model =
      resolved(model_of("phi3", 96)
                   .u32("phi3.rope.scaling.original_context_length", 4096)
                   .f32("phi3.rope.scaling.attn_factor", 1.1902381F)
                   .u32("phi3.attention.sliding_window", 262144)
                   .floats("rope_factors_short.weight", divisors_of("phi-3-mini-128k-short"))
                   .floats("rope_factors_long.weight", divisors_of("phi-3-mini-128k-long")));
  const LayerKind& kind = model.kinds.at(0);
  EXPECT_EQ(kind.scheme, "longrope");
  expect_table(kind, "phi-3-mini-128k-short", 1e-6);
  EXPECT_NEAR(kind.plan.inv_freq[0][47], 3.97222183e-05, 1e-12);
  EXPECT_NEAR(kind.long_inv_freq.at(47), 1.86935260e-06, 1e-13);
  EXPECT_NEAR(kind.plan.amplitude, 1.190238071, 1e-6);
  EXPECT_NE(kind.length_rule.find("exceeds 4096"), std::string::npos);
  EXPECT_EQ(kind.plan.mask.window, 0);  // llama.cpp runs phi3 without its window
  ASSERT_EQ(model.ignored.size(), 1U);
  EXPECT_EQ(model.ignored[0].key, "phi3.attention.sliding_window");
  EXPECT_EQ(model.ignored[0].reason, "llama.cpp does not read it for phi3");
  expect_rebuilt(kind);
  const auto half = resolved(
      model_of("phi3", 96).floats("rope_factors_long.weight", divisors_of("phi-3-mini-128k-long")));
  EXPECT_EQ(half.ignored.at(0).reason, "llama.cpp needs both lists");
}

// DeepSeek V2: mscale = mscale_all_dim = 0.707, factor 40; V3: 1. By hand: m(s) = 1 + 0.1 s ln 40,
// amplitude m/m = 1, softmax scale m^2 = 1.58962616512 and 1.87385420709.
TEST(GgufScaling, LatentHeadsAndTheirSoftmaxScale) {
  for (const auto& [stored, scale] :
       {std::pair(0.0707F, 1.5896261651208736), std::pair(0.1F, 1.8738542070926265)}) {
    const ResolvedModel model =
        resolved(model_of("deepseek2", 192)
                     .u32("deepseek2.attention.key_length", 576)
                     .u32("deepseek2.rope.dimension_count", 64)
                     .text("deepseek2.rope.scaling.type", "yarn")
                     .f32("deepseek2.rope.scaling.factor", 40.0F)
                     .u32("deepseek2.rope.scaling.original_context_length", 4096)
                     .f32("deepseek2.rope.scaling.yarn_log_multiplier", stored));
    const LayerKind& kind = model.kinds.at(0);
    EXPECT_EQ(kind.head_dim, 64);
    EXPECT_EQ(kind.layout, PairLayout::Interleaved);
    EXPECT_NEAR(kind.plan.amplitude, 1.0, 1e-12);
    EXPECT_NEAR(kind.plan.logit_scale, scale, 1e-9);
    EXPECT_TRUE(model.ignored.empty());
  }
}

TEST(GgufScaling, OldNameOfTheLinearFactor) {
  const auto old = resolved(model_of("llama").f32("llama.rope.scale_linear", 4.0F));
  EXPECT_EQ(old.kinds.at(0).scheme, "linear");
  expect_table(old.kinds[0], "vicuna-7b-16k-linear4");
  const auto both = resolved(model_of("llama")
                                 .f32("llama.rope.scale_linear", 4.0F)
                                 .f32("llama.rope.scaling.factor", 2.0F));
  EXPECT_EQ(both.kinds.at(0).factor, 2.0);
  EXPECT_EQ(both.ignored.at(0).key, "llama.rope.scale_linear");
  const auto none = resolved(model_of("llama")
                                 .text("llama.rope.scaling.type", "none")
                                 .f32("llama.rope.scaling.factor", 4.0F));
  expect_table(none.kinds.at(0), "llama-2-7b");
}

}  // namespace
}  // namespace gyre::inspect
