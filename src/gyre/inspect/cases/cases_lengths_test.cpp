// Field cases 14 to 16, 43 and 45: tables that depend on the length, amplitudes, static scaling.
// Neighbours as in cases_factors_test.cpp.
#include "gyre/inspect/cases/cases_testing.h"

namespace gyre::inspect::cases {
namespace {

std::vector<float> floats(const RawKey& list) {
  std::vector<float> out;
  for (const double value : list.numbers) {
    out.push_back(static_cast<float>(value));
  }
  return out;
}

GgufBuilder phi3_gguf(const ResolvedModel& hf, const std::string& first,
                      const std::string& second) {
  const uint32_t width = static_cast<uint32_t>(hf.kinds.at(0).rotary_dim);
  return gguf("phi3", 131072, 1e4F, width, static_cast<uint32_t>(hf.n_layers), 32)
      .u32("phi3.rope.scaling.original_context_length", 4096)
      .f32("phi3.rope.scaling.attn_factor", 1.190238F)
      .floats("rope_factors_short.weight", floats(*hf.raw.find("rope_scaling." + first)))
      .floats("rope_factors_long.weight", floats(*hf.raw.find("rope_scaling." + second)));
}

// ggml-org/llama.cpp#8995 (PR#24875), lablup/mlxcel#1358
TEST(Case14, AShortPromptTakesTheShortList) {
  const ResolvedModel model = fixture("phi-3-mini-128k");
  const LayerKind& all = only(model);
  expect_printed(band(all, 47), "3.97222183e-05");
  expect_printed(all.long_inv_freq.at(47), "1.86935260e-06");
  expect_contains(all.length_rule, "4096");
  expect_says(model, "length-dependent-table", "rotates short prompts with the long table");
  EXPECT_EQ(loud(model), "");
}

// llama.cpp chooses once, by the context it allocates: legal, as it is declared.
TEST(Case14, TheStaticChoiceOfAGgufIsDeclared) {
  const ResolvedModel hf = fixture("phi-3-mini-128k");
  const ResolvedModel file = read(phi3_gguf(hf, "short_factor", "long_factor"));
  EXPECT_NEAR(band(only(file), 47), 3.97222183e-05, 1e-11);  // the lists are floats there
  EXPECT_NEAR(only(file).long_inv_freq.at(47), 1.86935260e-06, 1e-12);
  expect_contains(only(file).length_rule, "by the context it allocates, not by the prompt");
  expect_says(file, "length-dependent-table", "rotates short prompts with the long table");
  EXPECT_EQ(loud(file), "");
}

TEST(Case14, ExchangedListsAreADifference) {
  const ResolvedModel hf = fixture("phi-3-mini-128k");
  const std::vector<Finding> found = diff(hf, read(phi3_gguf(hf, "long_factor", "short_factor")));
  expect_contains(loud(found), "error diff-table frequency");
  expect_contains(loud(found), "error diff-long-table");
}

// Phi 4 mini: other lists over 48 of 64 pairs; f = 1e4^(-2m/96) / list.
TEST(Case14, PhiFourMiniHasTwoTablesToo) {
  const ResolvedModel model = fixture("phi-4-mini");
  const std::vector<double>& slow = model.raw.find("rope_scaling.long_factor")->numbers;
  ASSERT_EQ(slow.size(), 48U);
  for (size_t m = 0; m < 48; ++m) {
    expect_near(band(only(model), m), plain(m, 1e4, 96));  // its short list is ones
    expect_near(only(model).long_inv_freq.at(m), plain(m, 1e4, 96) / slow[m]);
  }
  EXPECT_EQ(loud(model), "");
}

// Dynamic NTK: plain up to the length of the file, then a growing base.
TEST(Case14, DynamicIsPlainForShortPrompts) {
  const ResolvedModel model = llama(R"("max_position_embeddings": 4096, "rope_scaling": {
      "type": "dynamic", "factor": 2.0})");
  expect_near(band(only(model), 63), plain(63, 1e4, 128));
  EXPECT_EQ(printed(plain(63, 30527.737, 128), "1.23e-06"),  // base at 8192, case 12
            printed(only(model).long_inv_freq.at(63), "1.23e-06"));
  expect_says(model, "length-dependent-table", "30527.737 at 8192");
  EXPECT_EQ(loud(model), "");
}

// pytorch/executorch#19235
TEST(Case15, LongRopeHasItsAttentionFactor) {
  const double amplitude = only(fixture("phi-4-mini")).plan.amplitude;
  expect_printed(amplitude, "1.190238071");
  expect_printed(amplitude * amplitude, "1.416667");
  expect_contains(describe(fixture("phi-4-mini"), {}), "logits x1.41667");
}

// sqrt(1 + ln 8 / ln 8192) of another pair of lengths, in a block of its own.
TEST(Case15, OtherLengthsInRopeParameters) {
  const ResolvedModel model = config("nobody", R"("head_dim": 8, "num_hidden_layers": 1,
      "max_position_embeddings": 65536, "rope_parameters": {"rope_type": "longrope",
      "rope_theta": 10000.0, "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4],
      "original_max_position_embeddings": 8192})");
  expect_near(only(model).plan.amplitude, std::sqrt(1.0 + std::log(8.0) / std::log(8192.0)));
}

// Phi 3.5 MoE states the amplitude of each list, and its class multiplies by that.
TEST(Case15, StatedAmplitudesOfPhiMoe) {
  const ResolvedModel model = config("phimoe", R"("hidden_size": 256, "num_attention_heads": 32,
      "num_key_value_heads": 8, "num_hidden_layers": 2, "max_position_embeddings": 131072,
      "rope_theta": 10000.0, "rope_scaling": {"type": "longrope", "short_factor": [1, 1, 1, 1],
      "long_factor": [1, 2, 3, 4], "short_mscale": 1.243163121016122,
      "long_mscale": 1.243163121016122, "original_max_position_embeddings": 4096})");
  expect_printed(only(model).plan.amplitude, "1.243163121016122");
  EXPECT_EQ(loud(model), "");
}

// Two different ones: each holds where its list does.
TEST(Case15, EachListOfPhiMoeHasItsAmplitude) {
  const ResolvedModel model = config("phimoe", R"("hidden_size": 256, "num_attention_heads": 32,
      "num_key_value_heads": 8, "num_hidden_layers": 2, "max_position_embeddings": 131072,
      "rope_theta": 10000.0, "rope_scaling": {"type": "longrope", "short_factor": [1, 1, 1, 1],
      "long_factor": [1, 2, 3, 4], "short_mscale": 1.25, "long_mscale": 1.5,
      "original_max_position_embeddings": 4096})");
  EXPECT_EQ(only(model).plan.amplitude, 1.25);
  EXPECT_EQ(only(model).long_amplitude, 1.5);
  EXPECT_NE(describe(model, {}).find("1.25 on rotated q and k, logits x1.5625; past 4096 tokens "
                                     "1.5, logits x2.25"),
            std::string::npos);
  EXPECT_NE(to_json(model, {}).find("\"long_attention_factor\": 1.5"), std::string::npos);
  ResolvedModel other = model;
  other.kinds[0].long_amplitude = 0.0;
  const auto differences = diff(model, other);
  ASSERT_EQ(differences.size(), 1u);
  EXPECT_EQ(differences[0].id, "diff-long-amplitude");
  EXPECT_EQ(differences[0].found, "1.25");
}

// A file whose converter left it out: logits are 1/1.416667 of what they were.
TEST(Case15, AGgufWithoutItIsADifference) {
  const ResolvedModel hf = fixture("phi-3-mini-128k");
  GgufBuilder bare = gguf("phi3", 131072, 1e4F, 96, static_cast<uint32_t>(hf.n_layers), 32);
  bare.u32("phi3.rope.scaling.original_context_length", 4096)
      .floats("rope_factors_short.weight", floats(*hf.raw.find("rope_scaling.short_factor")))
      .floats("rope_factors_long.weight", floats(*hf.raw.find("rope_scaling.long_factor")));
  expect_contains(messages(diff(hf, read(bare)), "diff-amplitude"),
                  "1.190238071 in the config and 1 in the GGUF; logits differ by x0.7058824");
}

// QwenLM/Qwen3#1567, vllm#18728. The ramp starts at pair 23, whose own share is still 0.
TEST(Case16, StaticYarnTellsWhichPairsMoveAndTheAmplitude) {
  const ResolvedModel model = fixture("qwen2.5-7b-yarn");
  const LayerKind& all = only(model);
  EXPECT_EQ(all.ramp_low, 23.0);
  for (size_t m = 0; m < 64; ++m) {
    EXPECT_EQ(std::abs(band(all, m) / plain(m, 1e6, 128) - 1.0) < 1e-12, m <= 23) << m;
  }
  EXPECT_TRUE(all.length_rule.empty());  // at every length
  const std::string text = describe(model, {});
  expect_contains(text, "moves pairs 24-63 (40 of 64), at every length, short prompts too");
  expect_contains(text, "1.138629436");
  expect_says(model, "yarn-static", "pairs after 23 (24 to 63, 40 of 64)");
  expect_says(model, "yarn-static", "the amplitude is 1.138629436");
  EXPECT_EQ(loud(model), "");  // not a bug
}

// DeepSeek: pairs from 11 on move and the amplitude stays 1; gpt-oss: from 9 on, low is 8.09.
TEST(Case16, StaticYarnOfOtherFamilies) {
  const ResolvedModel deepseek = fixture("deepseek-v3");
  expect_says(deepseek, "yarn-static", "(11 to 31, 21 of 32) turn slower and the amplitude is 1");
  expect_contains(describe(deepseek, {}), "moves pairs 11-31 (21 of 32)");
  const ResolvedModel oss = fixture("gpt-oss-20b");
  expect_says(oss, "yarn-static", "(9 to 31, 23 of 32)");
  expect_says(oss, "yarn-static", "the amplitude is 1.34657359");
  EXPECT_EQ(loud(deepseek) + loud(oss), "");
}

// Other static scalings: llama3 keeps 29 pairs, linear moves all of them; neither is a fault.
TEST(Case16, OtherStaticScalingsSayWhatTheyMove) {
  expect_contains(describe(fixture("llama-3.1-8b"), {}),
                  "moves pairs 29-63 (35 of 64), at every length, short prompts too");
  const ResolvedModel linear = llama(R"("max_position_embeddings": 8192, "rope_scaling": {
      "type": "linear", "factor": 2.0})");
  expect_contains(describe(linear, {}), "moves pairs 0-63 (64 of 64), at every length");
  const ResolvedModel file = read(gguf("qwen2", 131072, 1e6F)
                                      .text("qwen2.rope.scaling.type", "yarn")
                                      .f32("qwen2.rope.scaling.factor", 4.0F)
                                      .u32("qwen2.rope.scaling.original_context_length", 32768));
  expect_contains(describe(file, {}), "moves pairs 24-63 (40 of 64), at every length");
  EXPECT_EQ(loud(linear) + loud(file) + loud(fixture("llama-3.1-8b")), "");
}

std::string yarn16(const std::string& more) {
  return R"("max_position_embeddings": 65536, "rope_scaling": {"rope_type": "yarn", "factor": 16,
      "original_max_position_embeddings": 4096)" +
         more + "}";
}

// Avarok-Cybersecurity/atlas#342
TEST(Case43, AnAmplitudeOfOneIsNotRaised) {
  const ResolvedModel model = llama(yarn16(", \"attention_factor\": 1.0"));
  EXPECT_EQ(only(model).plan.amplitude, 1.0);
  expect_says(model, "attention-factor-explicit", "1.277258872");
  expect_says(model, "attention-factor-explicit", "x1.63139");
  const double raised = only(llama(yarn16(""))).plan.amplitude;
  expect_printed(raised, "1.277258872");
  expect_printed(raised * raised, "1.631390");
  EXPECT_EQ(loud(model), "");
}

// Two equal mscales cancel: amplitude 1, the correction m^2 on the softmax scale, 1 + 0.1 ln 40.
TEST(Case43, EqualMscalesLeaveOne) {
  const ResolvedModel model = fixture("deepseek-v3");
  EXPECT_EQ(only(model).plan.amplitude, 1.0);
  expect_near(only(model).plan.logit_scale, std::pow(1.0 + 0.1 * std::log(40.0), 2));
}

TEST(Case43, TypesWithoutAnAmplitudeHaveNone) {
  for (const char* block :
       {R"("rope_type": "linear", "factor": 16)", R"("rope_type": "dynamic", "factor": 16)",
        R"("rope_type": "llama3", "factor": 16, "low_freq_factor": 1, "high_freq_factor": 4,
           "original_max_position_embeddings": 4096)"}) {
    const ResolvedModel model =
        llama(R"("max_position_embeddings": 4096, "rope_scaling": {)" + std::string(block) + "}");
    EXPECT_EQ(only(model).factor, 16.0) << block;
    EXPECT_EQ(only(model).plan.amplitude, 1.0) << block;
  }
}

// GGUF: yarn's amplitude is made by the reader unless attn_factor divides it away.
TEST(Case43, AGgufThatRaisesItIsADifference) {
  const ResolvedModel hf = llama(yarn16(", \"attention_factor\": 1.0"));
  GgufBuilder raised = gguf("llama", 65536);
  raised.text("llama.rope.scaling.type", "yarn")
      .f32("llama.rope.scaling.factor", 16.0F)
      .u32("llama.rope.scaling.original_context_length", 4096);
  EXPECT_EQ(loud(diff(hf, read(raised))),
            "error diff-amplitude amplitude '1.277258872', expected '1'\n");
  expect_contains(messages(diff(hf, read(raised)), "diff-amplitude"), "x1.63139");
  raised.f32("llama.rope.scaling.attn_factor",
             static_cast<float>(1.0 / (1.0 + 0.1 * std::log(16))));
  EXPECT_EQ(loud(diff(hf, read(raised))), "");
}

std::string kinds_with(const std::string& full, const std::string& sliding) {
  return R"("head_dim": 8, "num_hidden_layers": 6, "max_position_embeddings": 4096,
      "rope_parameters": {"full_attention": {)" +
         full + R"(}, "sliding_attention": {)" + sliding + "}}";
}
const std::string kLong = R"("rope_type": "longrope", "rope_theta": 1000000.0, "factor": 4.0,
    "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 4, 8],
    "original_max_position_embeddings": 1024)";
const std::string kPlain = R"("rope_type": "default", "rope_theta": 10000.0)";

// Own finding on transformers 5.18: the second forward past the original length crashes there.
TEST(Case45, PerLayerLongRopeGivesTheSameTableTwice) {
  const std::string text = kinds_with(kLong, kPlain);
  const ResolvedModel model = config("gemma3_text", text);
  const LayerKind& full = kind(model, "full_attention");
  EXPECT_EQ(model.original_length, 1024);
  for (size_t m = 0; m < 4; ++m) {  // past 1024 tokens
    expect_near(full.long_inv_freq.at(m), plain(m, 1e6, 8) / static_cast<double>(1U << m));
  }
  EXPECT_EQ(kind(config("gemma3_text", text), "full_attention").long_inv_freq, full.long_inv_freq);
  EXPECT_TRUE(kind(model, "sliding_attention").long_inv_freq.empty());
  EXPECT_EQ(told(model, "longrope-per-layer"),
            "warning longrope-per-layer rope_parameters.full_attention.rope_type 'longrope', "
            "expected ''\n");
}

TEST(Case45, TheOtherKindAndAnotherFamilyAreToldToo) {
  const ResolvedModel local = config("gemma3_text", kinds_with(kPlain, kLong));
  expect_contains(told(local, "longrope-per-layer"), "rope_parameters.sliding_attention.rope_type");
  EXPECT_FALSE(kind(local, "sliding_attention").long_inv_freq.empty());
  const ResolvedModel olmo = config("olmo3", kinds_with(kLong, kPlain));
  expect_contains(told(olmo, "longrope-per-layer"), "rope_parameters.full_attention.rope_type");
}

TEST(Case45, OneBlockForAllLayersIsSilent) {
  const ResolvedModel model = config("phi3", R"("hidden_size": 256, "num_attention_heads": 32,
      "num_hidden_layers": 6, "max_position_embeddings": 4096, "rope_parameters": {)" +
                                                 kLong + "}");
  EXPECT_EQ(told(model, "longrope-per-layer"), "");
  expect_near(only(model).long_inv_freq.at(3), plain(3, 1e6, 8) / 8.0);
  EXPECT_EQ(loud(model), "");
}

}  // namespace
}  // namespace gyre::inspect::cases
