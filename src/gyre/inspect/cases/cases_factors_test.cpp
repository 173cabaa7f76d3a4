// Field cases 1 to 6: scaling blocks. Each case has its published number, then neighbours: other
// families and other places where the same mistake hides, with numbers from formulas written here.
#include "gyre/inspect/cases/cases_testing.h"

namespace gyre::inspect::cases {
namespace {

const std::string kLlama3Block = R"({"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
    "high_freq_factor": 4, "original_max_position_embeddings": 8192})";

struct Counts {
  int kept = 0, blended = 0, divided = 0;
  bool operator==(const Counts&) const = default;
};

Counts counts(const LayerKind& kind, double factor) {
  Counts n;
  for (size_t m = 0; m < kind.plan.inv_freq.at(0).size(); ++m) {
    const double by = plain(m, kind.base, static_cast<double>(kind.rotary_dim)) / band(kind, m);
    ++(std::abs(by - 1.0) < 1e-12 ? n.kept : std::abs(by - factor) < 1e-9 ? n.divided : n.blended);
  }
  return n;
}

// meta-llama/llama3#299, foundation-model-stack#384
TEST(Case01, Llama3BlockIsAcceptedWithAllItsKeys) {
  const ResolvedModel model = llama(R"("max_position_embeddings": 131072, "rope_theta": 500000.0,
      "rope_scaling": )" + kLlama3Block);
  EXPECT_EQ(only(model).scheme, "llama3");
  EXPECT_EQ(counts(only(model), 8.0), (Counts{29, 6, 29}));
  expect_printed(band(only(model), 63), "3.06892599e-07");
  EXPECT_EQ(loud(model), "");
}

// Llama 3.2 1B: half the channels, four times the factor; 15, 3 and 14 pairs by wavelength.
TEST(Case01, Llama32HasTheSameRuleWithFactor32) {
  const ResolvedModel model = config("llama", R"("hidden_size": 2048, "num_attention_heads": 32,
      "num_key_value_heads": 8, "num_hidden_layers": 16, "head_dim": 64, "vocab_size": 128256,
      "max_position_embeddings": 131072, "rope_theta": 500000.0, "rope_scaling": {"factor": 32.0,
      "high_freq_factor": 4.0, "low_freq_factor": 1.0, "original_max_position_embeddings": 8192,
      "rope_type": "llama3"})");
  EXPECT_EQ(counts(only(model), 32.0), (Counts{15, 3, 14}));
  for (size_t m = 0; m < 32; ++m) {
    expect_near(band(only(model), m), llama3_band(m, 5e5, 64, 32.0));
  }
  EXPECT_EQ(loud(model), "");
}

// Llama 4 Scout: factor 16 and both bounds at one turn, a step at wavelength 8192. By hand: pair m
// turns once in 8192 tokens at m = 64 ln(8192 / 2 pi) / ln 5e5 = 34.98.
TEST(Case01, EqualBoundsAreAStepAsInLlama4) {
  const ResolvedModel model = config("llama4", R"("text_config": {"model_type": "llama4_text",
      "hidden_size": 5120, "head_dim": 128, "num_attention_heads": 40, "num_key_value_heads": 8,
      "num_hidden_layers": 4, "max_position_embeddings": 10485760, "rope_theta": 500000.0,
      "rope_scaling": {"factor": 16.0, "high_freq_factor": 1.0, "low_freq_factor": 1.0,
      "original_max_position_embeddings": 8192, "rope_type": "llama3"}})");
  const LayerKind& chunked = kind(model, "chunked_attention");
  EXPECT_EQ(chunked.scheme, "llama3") << describe(model, {});
  EXPECT_EQ(counts(chunked, 16.0), (Counts{35, 0, 29}));
  EXPECT_EQ(loud(model), "");
}

// The same block where newer files put it, and in a family that gyre does not know.
TEST(Case01, Llama3BlockInsideRopeParametersOfAnyFamily) {
  const std::string keys = R"("head_dim": 128, "num_hidden_layers": 2,
      "max_position_embeddings": 131072, "rope_parameters": {"rope_theta": 500000.0, )" +
                           kLlama3Block.substr(1) + "}";
  for (const char* family : {"llama", "granite", "nobody_knows_me"}) {
    const ResolvedModel model = config(family, keys.substr(0, keys.size() - 1));
    EXPECT_EQ(counts(only(model), 8.0), (Counts{29, 6, 29})) << family;
    expect_printed(band(only(model), 63), "3.06892599e-07");
    EXPECT_EQ(loud(model), "") << family;
  }
}

std::string qwen3_40960(const std::string& factor) {
  return R"("head_dim": 128, "hidden_size": 4096, "num_attention_heads": 32,
      "num_key_value_heads": 8, "num_hidden_layers": 36, "max_position_embeddings": 40960,
      "rope_theta": 1000000, "rope_scaling": {"rope_type": "yarn", )" +
         factor + R"("original_max_position_embeddings": 32768})";
}

// huggingface/transformers#38224
TEST(Case02, ExplicitFactorWinsAndTheMismatchIsReported) {
  const ResolvedModel model = config("qwen3", qwen3_40960("\"factor\": 4.0, "));
  EXPECT_EQ(only(model).factor, 4.0);
  expect_printed(only(model).plan.amplitude, "1.138629436");
  // Qwen3's model card leaves 40960 in place when it adds the block, so nothing is wrong.
  EXPECT_EQ(told(model, "factor-length-mismatch"),
            "note factor-length-mismatch rope_scaling.factor '4', expected '1.25'\n");
  expect_says(model, "factor-length-mismatch", "1.022314355");
}

TEST(Case02, OnlyAMissingFactorIsTheRatio) {
  const ResolvedModel model = config("qwen3", qwen3_40960(""));
  EXPECT_EQ(only(model).factor, 1.25);
  expect_printed(only(model).plan.amplitude, "1.022314355");
}

// LongRoPE's amplitude depends on the factor too: sqrt(1 + ln 32 / ln 4096) = 1.190238071.
TEST(Case02, ExplicitFactorWinsForLongRope) {
  const ResolvedModel model = llama(R"("head_dim": 8, "max_position_embeddings": 8192,
      "rope_scaling": {"rope_type": "longrope", "factor": 32.0, "short_factor": [1, 1, 1, 1],
      "long_factor": [1, 2, 3, 4], "original_max_position_embeddings": 4096})");
  expect_printed(only(model).plan.amplitude, "1.190238071");
  EXPECT_EQ(told(model, "factor-length-mismatch"),
            "warning factor-length-mismatch rope_scaling.factor '32', expected '2'\n");
}

// The amplitude that belongs to the explicit factor is nothing to remark on.
TEST(Case02, LintJudgesLongRopesAmplitudeByTheExplicitFactor) {
  const auto model = [](const std::string& amplitude) {
    return llama(R"("head_dim": 8, "max_position_embeddings": 8192, "rope_scaling": {
      "rope_type": "longrope", "factor": 32.0, "short_factor": [1, 1, 1, 1],
      "long_factor": [1, 2, 3, 4], "original_max_position_embeddings": 4096,
      "attention_factor": )" +
                 amplitude + "}");
  };
  EXPECT_EQ(told(model("1.190238071423808"), "attention-factor-explicit"), "");
  EXPECT_EQ(told(model("1.0408329997330663"), "attention-factor-explicit"),  // of 8192 / 4096
            "note attention-factor-explicit rope_scaling.attention_factor '1.0408329997330663', "
            "expected '1.190238071'\n");
}

TEST(Case02, ExplicitFactorOfAGgufWins) {
  const ResolvedModel model = read(gguf("qwen3", 40960, 1e6F)
                                       .text("qwen3.rope.scaling.type", "yarn")
                                       .f32("qwen3.rope.scaling.factor", 4.0F)
                                       .u32("qwen3.rope.scaling.original_context_length", 32768));
  expect_printed(only(model).plan.amplitude, "1.138629436");
  // Qwen3's model card leaves 40960 in place when it adds the block, so nothing is wrong.
  EXPECT_EQ(told(model, "factor-length-mismatch"),
            "note factor-length-mismatch qwen3.rope.scaling.factor '4', expected '1.25'\n");
}

TEST(Case02, LengthsThatFitTheFactorAreSilent) {
  const ResolvedModel model = config("qwen3", R"("head_dim": 128, "num_hidden_layers": 2,
      "max_position_embeddings": 131072, "rope_theta": 1000000, "rope_parameters": {
      "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 32768})");
  EXPECT_EQ(loud(model), "");
}

// vllm-project/vllm#27722 (fix #28244), sgl-project/sglang#14270
TEST(Case03, TruncateFalseKeepsFractionalBounds) {
  const ResolvedModel model = fixture("gpt-oss-20b");
  for (const LayerKind& one : model.kinds) {
    expect_printed(one.ramp_low, "8.092779115512402");
    expect_printed(one.ramp_high, "17.39802450158856");
  }
  expect_says(model, "yarn-truncate", "8.092779116 to 17.3980245 ");
  expect_says(model, "yarn-truncate", "uses 8 to 18, pair 17 then turns 1.763x as fast");
  EXPECT_EQ(loud(model), "");
}

TEST(Case03, RoundedBoundsMakePair17TooFast) {
  const ResolvedModel rounded = config("gpt_oss", R"("num_hidden_layers": 2, "rope_parameters": {
      "rope_type": "yarn", "factor": 32, "rope_theta": 150000, "beta_fast": 32, "beta_slow": 1,
      "original_max_position_embeddings": 4096})");
  const LayerKind& full = kind(rounded, "full_attention");
  expect_printed(full.ramp_low, "8");
  expect_printed(full.ramp_high, "18");
  expect_printed(band(full, 17) / band(kind(fixture("gpt-oss-20b"), "full_attention"), 17),
                 "1.763");
}

// Another family with the key: every pair by the formula with ends that are not rounded.
TEST(Case03, TruncateFalseOfAnotherFamily) {
  const ResolvedModel model = config("qwen3", R"("head_dim": 128, "num_hidden_layers": 2,
      "max_position_embeddings": 131072, "rope_theta": 1000000, "rope_scaling": {"type": "yarn",
      "factor": 4.0, "truncate": false, "original_max_position_embeddings": 32768})");
  const double low = yarn_place(32.0, 1e6, 128, 32768);
  const double high = yarn_place(1.0, 1e6, 128, 32768);
  expect_near(only(model).ramp_low, low);  // 23.5959...
  expect_near(only(model).ramp_high, high);
  for (size_t m = 0; m < 64; ++m) {
    expect_near(band(only(model), m), yarn_band(m, 1e6, 128, 4.0, low, high));
  }
}

TEST(Case03, ClassDefaultWithoutABlockIsNotRounded) {
  const ResolvedModel model = config("gpt_oss", "\"num_hidden_layers\": 2");
  expect_printed(model.kinds.at(0).ramp_high, "17.39802450158856");
}

// GGUF has no key for it and its runtime rounds: the two files are two models.
TEST(Case03, DiffWithARoundedGgufNamesPair17) {
  const ResolvedModel file = read(gguf("gpt-oss", 131072, 150000.0F, 64, 4, 64)
                                      .text("gpt-oss.rope.scaling.type", "yarn")
                                      .f32("gpt-oss.rope.scaling.factor", 32.0F)
                                      .u32("gpt-oss.rope.scaling.original_context_length", 4096)
                                      .u32("gpt-oss.attention.sliding_window", 128));
  const std::vector<Finding> found = diff(fixture("gpt-oss-20b"), file);
  expect_contains(messages(found, "diff-table"), "frequency of pair 17");
  expect_contains(messages(found, "diff-table"), "x1.76268");
}

// vllm-project/vllm#46280, ml-explore/mlx-lm#1507
TEST(Case04, ExplicitAttentionFactorOneIsTheAmplitude) {
  const std::string lengths = R"("max_position_embeddings": 262144, "rope_scaling": {
      "type": "yarn", "factor": 64, "original_max_position_embeddings": 4096)";
  const ResolvedModel model = llama(lengths + ", \"attention_factor\": 1.0}");
  EXPECT_EQ(only(model).plan.amplitude, 1.0);
  EXPECT_EQ(told(model, "attention-factor-explicit"),
            "note attention-factor-explicit rope_scaling.attention_factor '1.0', expected "
            "'1.415888308'\n");
  expect_says(model, "attention-factor-explicit", "logits x2.00474");
  EXPECT_EQ(loud(model), "");
  const double dropped = only(llama(lengths + "}")).plan.amplitude;
  expect_printed(dropped, "1.415888308");
  expect_printed(dropped * dropped, "2.004740");
}

TEST(Case04, ItWinsOverDeepSeeksMscalePair) {
  const ResolvedModel model = config("deepseek_v3", R"("num_hidden_layers": 2,
      "max_position_embeddings": 163840, "rope_scaling": {"type": "yarn", "factor": 40,
      "mscale": 1.0, "mscale_all_dim": 0.5, "attention_factor": 1.25,
      "original_max_position_embeddings": 4096})");
  EXPECT_EQ(only(model).plan.amplitude, 1.25);
}

TEST(Case04, ItWinsOverLongRopesFormula) {
  const ResolvedModel model = config("phi3", R"("hidden_size": 16, "num_attention_heads": 2,
      "num_hidden_layers": 1, "max_position_embeddings": 131072,
      "original_max_position_embeddings": 4096, "rope_scaling": {"type": "su",
      "attention_factor": 1.0, "short_factor": [1, 1, 1, 1], "long_factor": [1, 2, 3, 4]})");
  EXPECT_EQ(only(model).plan.amplitude, 1.0);
  expect_says(model, "attention-factor-explicit", "1.190238071");
}

TEST(Case04, ItIsReadInTheBlockOfOneLayerKind) {
  const ResolvedModel model = config("olmo3", R"("num_hidden_layers": 4,
      "max_position_embeddings": 65536, "rope_parameters": {
      "full_attention": {"rope_type": "yarn", "rope_theta": 500000, "factor": 8.0,
        "attention_factor": 1.0, "original_max_position_embeddings": 8192},
      "sliding_attention": {"rope_type": "default", "rope_theta": 500000}})");
  EXPECT_EQ(kind(model, "full_attention").plan.amplitude, 1.0);
  expect_says(model, "attention-factor-explicit", "1.207944154");  // 0.1 ln 8 + 1
}

std::string yarn_of(const std::string& original, const std::string& longest) {
  return R"("hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 2,
      "rope_theta": 1000000, "max_position_embeddings": )" +
         longest + R"(, "rope_scaling": {"type": "yarn", "factor": 4, )" + original + "}";
}

// NVIDIA/Megatron-LM#1418
TEST(Case05, BoundsComeFromTheOriginalLength) {
  const ResolvedModel right =
      config("qwen2", yarn_of("\"original_max_position_embeddings\": 32768", "131072"));
  EXPECT_EQ(only(right).ramp_low, 23.0);
  EXPECT_EQ(only(right).ramp_high, 40.0);
  EXPECT_EQ(loud(right), "");
  const ResolvedModel wrong =
      config("qwen2", yarn_of("\"original_max_position_embeddings\": 131072", "131072"));
  EXPECT_EQ(only(wrong).ramp_low, 30.0);
  EXPECT_EQ(only(wrong).ramp_high, 47.0);
  expect_printed(band(only(wrong), 40) / band(only(right), 40), "2.2353");
  expect_says(wrong, "original-length-wrong", "pair 40 is 2.2353x too fast");
}

TEST(Case05, AMissingOriginalLengthIsTold) {
  const ResolvedModel model = config("qwen2", yarn_of("\"beta_slow\": 1", "131072"));
  EXPECT_EQ(loud(model),
            "warning original-length-missing rope_scaling.original_max_position_embeddings "
            "'nothing', expected 'the length before extension'\n");
  expect_says(model, "original-length-missing", "30 to 47");
  expect_says(model, "original-length-missing", "it should be 23 to 40");
}

// Places outside the block; DeepSeek's pairs by formula: 10.47 and 22.51, rounded outwards.
TEST(Case05, OriginalLengthBesideTheBlockAndOfDeepSeek) {
  const ResolvedModel beside = llama(R"("max_position_embeddings": 131072, "rope_theta": 1000000,
      "original_max_position_embeddings": 32768, "rope_scaling": {"type": "yarn", "factor": 4})");
  EXPECT_EQ(only(beside).ramp_low, 23.0);
  EXPECT_EQ(only(beside).ramp_high, 40.0);
  const ResolvedModel deepseek = fixture("deepseek-v3");
  EXPECT_EQ(only(deepseek).ramp_low, std::floor(yarn_place(32, 1e4, 64, 4096)));
  EXPECT_EQ(only(deepseek).ramp_high, std::ceil(yarn_place(1, 1e4, 64, 4096)));
}

TEST(Case05, AGgufWithoutTheOriginalLengthIsTold) {
  const GgufBuilder bare = gguf("qwen2", 131072, 1e6F)
                               .text("qwen2.rope.scaling.type", "yarn")
                               .f32("qwen2.rope.scaling.factor", 4.0F);
  const ResolvedModel model = read(bare);
  EXPECT_EQ(only(model).ramp_low, 30.0);
  EXPECT_EQ(loud(model),
            "warning gguf-scaling qwen2.rope.scaling.original_context_length 'nothing', expected "
            "'the length before extension'\n");
  GgufBuilder whole = bare;
  whole.u32("qwen2.rope.scaling.original_context_length", 32768);
  EXPECT_EQ(only(read(whole)).ramp_low, 23.0);
  EXPECT_EQ(loud(read(whole)), "");
}

// vllm-project/vllm#56446
TEST(Case06, AnAliasIsYarnAndTheLengthIsNotMultipliedAgain) {
  const ResolvedModel model = llama(R"("max_position_embeddings": 131072, "rope_scaling": {
      "type": "deepseek_yarn", "factor": 40, "original_max_position_embeddings": 4096})");
  EXPECT_EQ(only(model).scheme, "yarn");
  EXPECT_EQ(model.max_length, 131072);
  EXPECT_EQ(told(model, "rope-type-alias"),
            "note rope-type-alias rope_scaling.type 'deepseek_yarn', expected 'yarn'\n");
  expect_says(model, "rope-type-alias", "stays 131072, not 5242880");
}

TEST(Case06, OtherAliasesKeepTheirLengthToo) {
  const ResolvedModel su = fixture("phi-3-mini-128k");
  EXPECT_EQ(su.kinds.at(0).scheme, "longrope");
  EXPECT_EQ(su.max_length, 131072);
  const ResolvedModel mrope = config("qwen2_vl", R"("hidden_size": 3584, "num_hidden_layers": 2,
      "num_attention_heads": 28, "max_position_embeddings": 32768, "rope_theta": 1000000.0,
      "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 24]})");
  EXPECT_EQ(mrope.kinds.at(0).scheme, "rope");
  EXPECT_EQ(mrope.max_length, 32768);
  EXPECT_EQ(loud(mrope), "");
}

// A file that was written by such a reader: 32768 x 4 x 4.
TEST(Case06, ALengthMultipliedTwiceIsAnError) {
  const ResolvedModel model =
      config("qwen2", yarn_of("\"original_max_position_embeddings\": 32768", "524288"));
  EXPECT_EQ(told(model, "max-multiplied-again"),
            "error max-multiplied-again max_position_embeddings '524288', expected '131072'\n");
}

TEST(Case06, ALengthThatWasNotRaisedIsMultipliedOnce) {
  EXPECT_EQ(fixture("qwen2.5-7b-yarn").max_length, 131072);  // 32768 in the file
  EXPECT_EQ(fixture("deepseek-v3").max_length, 163840);      // the same in the file
}

}  // namespace
}  // namespace gyre::inspect::cases
