// Rules about lengths and scaling. Numbers are those of public reports, computed there in float64.
#include "gyre/inspect/lint/test_models.h"

namespace gyre::inspect {
namespace {

constexpr const char* kNoLengths = "max_position_embeddings rope_theta model_type";

std::string qwen(const std::string& block, const std::string& max) {
  return config_text(str(R"("model_type": "qwen2", "rope_theta": 1000000.0,
      "max_position_embeddings": )",
                         max, R"(, "rope_scaling": {)", block, "}"),
                     kNoLengths);
}

// Case 47.
TEST(LintFactor, BelowOne) {
  expect_findings(
      "factor-below-one", scaled(R"("type": "linear", "factor": 0.25)"),
      "error factor-below-one | rope_scaling.factor | 0.25 | 1 or more | factor must be "
      "1 or more, found 0.25; it divides frequencies, so below 1 it speeds them up; "
      "write extended length / trained length\n");
  expect_findings("factor-below-one", gguf("llama", {{"rope.scaling.factor", 0.5}}),
                  "error factor-below-one | llama.rope.scaling.factor | 0.5 | 1 or more | factor "
                  "must be 1 or more, found 0.5; it divides frequencies, so below 1 it speeds them "
                  "up; write extended length / trained length\n");
  expect_silent("factor-below-one", scaled(R"("type": "linear", "factor": 1.0)"));
  expect_silent("factor-below-one", gguf("llama", {{"rope.scaling.factor", 0.0}}));  // = none
}

// Case 2: implied factor 1.25, amplitudes 1.138629436 and 1.022314355.
TEST(LintFactor, AgainstTheTwoLengths) {
  expect_findings(
      "factor-length-mismatch",
      resolve_config(qwen(R"("rope_type": "yarn", "factor": 4.0,
                             "original_max_position_embeddings": 32768)",
                          "40960"),
                     "c"),
      "warning factor-length-mismatch | rope_scaling.factor | 4 | 1.25 | factor is 4, but "
      "max_position_embeddings / original_max_position_embeddings = 40960 / 32768 = 1.25; the "
      "factor given wins (amplitude 1.138629436; a reader that takes the ratio gets 1.022314355); "
      "make the three agree\n");
}

TEST(LintFactor, AgainstTheLengthsOfAGguf) {
  ResolvedModel model = gguf("qwen3moe", {{"context_length", 40960},
                                          {"rope.scaling.factor", 4},
                                          {"rope.scaling.original_context_length", 32768}});
  model.raw.add(text_raw_key("qwen3moe.rope.scaling.type", "yarn"));
  expect_findings("factor-length-mismatch", model,
                  "warning factor-length-mismatch | qwen3moe.rope.scaling.factor | 4 | 1.25 | "
                  "factor is 4, but context_length / original_context_length = 40960 / 32768 = "
                  "1.25; the factor given wins (amplitude 1.138629436; a reader that takes the "
                  "ratio gets 1.022314355); make the three agree\n");
}

// The published recipe of Qwen2.5 leaves max_position_embeddings at 32768.
TEST(LintFactor, LengthNotRaisedIsANote) {
  expect_findings("factor-length-mismatch",
                  resolve_config(qwen(R"("type": "yarn", "factor": 4.0,
                             "original_max_position_embeddings": 32768)",
                                      "32768"),
                                 "c"),
                  "note factor-length-mismatch | max_position_embeddings | 32768 | 131072 | "
                  "max_position_embeddings is still the original length 32768; the factor 4 "
                  "reaches 131072, but "
                  "a reader that stops there will not admit more\n");
}

TEST(LintFactor, Llama3AndAgreeingFilesAreSilent) {
  expect_silent("factor-length-mismatch",
                scaled(R"("rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                          "high_freq_factor": 4.0, "original_max_position_embeddings": 8192)",
                       R"("max_position_embeddings": 131072)", "max_position_embeddings"));
  expect_silent("factor-length-mismatch",
                scaled(R"("type": "yarn", "factor": 40,
                          "original_max_position_embeddings": 4096)",
                       R"("max_position_embeddings": 163840)", "max_position_embeddings"));
}

TEST(LintOriginalLength, Missing) {
  expect_findings(
      "original-length-missing",
      resolve_config(qwen(R"("type": "yarn", "factor": 4.0)", "131072"), "c"),
      "warning original-length-missing | rope_scaling.original_max_position_embeddings | nothing | "
      "the length before extension | rope type 'yarn' without original_max_position_embeddings; "
      "readers take max_position_embeddings = 131072 (ramp over pairs 30 to 47; if that length is "
      "the extended one it should be 23 to 40); add the length before extension\n");
  expect_findings(
      "original-length-missing",
      scaled(R"("rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0)"),
      "error original-length-missing | rope_scaling.original_max_position_embeddings | nothing | "
      "the length before extension | rope type 'llama3' without original_max_position_embeddings; "
      "readers take max_position_embeddings = 4096; add the length before extension\n");
}

TEST(LintOriginalLength, BesideTheBlockCounts) {
  expect_silent("original-length-missing",  // as Phi-3 writes it
                scaled(R"("type": "longrope", "short_factor": [1.0], "long_factor": [2.0])",
                       R"("original_max_position_embeddings": 4096)"));
  expect_silent("original-length-missing", scaled(R"("type": "linear", "factor": 2.0)"));
}

// Case 5: 131072 in the place of 32768; bounds 23/40 against 30/47, pair 40 is 2.2353x too fast.
TEST(LintOriginalLength, ExtendedLengthInItsPlace) {
  expect_findings(
      "original-length-wrong",
      resolve_config(qwen(R"("type": "yarn", "factor": 4.0,
                             "original_max_position_embeddings": 131072)",
                          "131072"),
                     "c"),
      "warning original-length-wrong | rope_scaling.original_max_position_embeddings | 131072 | "
      "32768 | original length 131072, but Qwen2.5 was trained on 32768; ramp over pairs 30 to 47 "
      "instead of 23 to 40, pair 40 is 2.2353x too fast; write the length before extension\n");
  expect_silent("original-length-wrong", resolve_config(qwen(R"("type": "yarn", "factor": 4.0,
                                       "original_max_position_embeddings": 32768)",
                                                             "32768"),
                                                        "c"));
}

TEST(LintOriginalLength, LongerThanTheMaximumOrNotPositive) {
  expect_findings("original-length-wrong", scaled(R"("type": "yarn", "factor": 4.0,
                            "original_max_position_embeddings": 16384)"),
                  "warning original-length-wrong | rope_scaling.original_max_position_embeddings | "
                  "16384 | at most 4096 | original length 16384 is longer than "
                  "max_position_embeddings 4096; the two may be exchanged\n");
  ResolvedModel model;
  model.raw = RawConfig::from_json(
      R"({"rope_scaling": {"type": "yarn", "original_max_position_embeddings": 0}})", "c");
  expect_findings("original-length-wrong", model,
                  "error original-length-wrong | rope_scaling.original_max_position_embeddings | 0 "
                  "| a length above 0 | original length must be above 0, found 0\n");
}

TEST(LintOriginalLength, TwoOfThem) {
  expect_findings(
      "original-length-conflict",
      scaled(R"("type": "yarn", "factor": 4.0,
                            "original_max_position_embeddings": 1024)",
             R"("original_max_position_embeddings": 2048)"),
      "error original-length-conflict | rope_scaling.original_max_position_embeddings | "
      "1024 | 2048 | original_max_position_embeddings is 1024 in rope_scaling and 2048 "
      "outside it; transformers v5 takes the outer one, v4 the inner one for yarn and "
      "llama3; keep one\n");
  expect_silent("original-length-conflict", scaled(R"("type": "yarn", "factor": 4.0,
                          "original_max_position_embeddings": 1024)",
                                                   R"("original_max_position_embeddings": 1024)"));
}

// Case 11: an 8k Llama-2 without its block needs linear 2.0.
TEST(LintMaxLength, ExtendedLlamaWithoutScaling) {
  expect_findings(
      "max-extended-without-scaling",
      config(R"("max_position_embeddings": 8192, "vocab_size": 32000)",
             "max_position_embeddings vocab_size"),
      "warning max-extended-without-scaling | max_position_embeddings | 8192 | 4096 | length 8192 "
      "without scaling; Llama 2 (2048 for Llama 1) was trained on 4096; if the weights were tuned "
      "with scaling, add {\"rope_type\": \"linear\", \"factor\": 2}\n");
}

TEST(LintMaxLength, OtherFamiliesAndFileKinds) {
  expect_findings(
      "max-extended-without-scaling",
      config(R"("max_position_embeddings": 131072, "vocab_size": 128256, "rope_theta": 500000.0)",
             "max_position_embeddings vocab_size rope_theta"),
      "warning max-extended-without-scaling | max_position_embeddings | 131072 | 8192 | length "
      "131072 without scaling; Llama 3 was trained on 8192; if the weights were tuned with "
      "scaling, "
      "add a llama3 block (factor 8 in Llama 3.1)\n");
  // Case 28: yarn keys not written for one architecture class.
  expect_findings(
      "max-extended-without-scaling",
      gguf("qwen3moe", {{"context_length", 131072}, {"rope.freq_base", 1e6}}),
      "warning max-extended-without-scaling | qwen3moe.context_length | 131072 | 40960 | length "
      "131072 without scaling; Qwen3 was trained on 32768; if the weights were tuned with scaling, "
      "add a yarn block with factor 4\n");
}

TEST(LintMaxLength, ScaledOrUnknownModelsAreSilent) {
  expect_silent("max-extended-without-scaling",
                config(R"("max_position_embeddings": 8192, "vocab_size": 32000,
                          "rope_scaling": {"type": "linear", "factor": 2.0})",
                       "max_position_embeddings vocab_size"));
  expect_silent("max-extended-without-scaling",  // another vocabulary: trained from scratch
                config(R"("max_position_embeddings": 8192)", "max_position_embeddings"));
  expect_silent("max-extended-without-scaling",
                gguf("qwen3", {{"context_length", 262144}, {"rope.freq_base", 5e6}}));
}

// Case 6, in the file itself: 4096 x 40 x 40.
TEST(LintMaxLength, MultipliedTwice) {
  expect_findings("max-multiplied-again",
                  scaled(R"("type": "yarn", "factor": 40,
                            "original_max_position_embeddings": 4096)",
                         R"("max_position_embeddings": 6553600)", "max_position_embeddings"),
                  "error max-multiplied-again | max_position_embeddings | 6553600 | 163840 | "
                  "max_position_embeddings 6553600 is the original length 4096 times the factor 40 "
                  "twice; the usable length is 163840\n");
  expect_silent("max-multiplied-again",
                scaled(R"("type": "yarn", "factor": 40,
                          "original_max_position_embeddings": 4096)",
                       R"("max_position_embeddings": 163840)", "max_position_embeddings"));
}

// Case 47: low 4 > high 1. Llama 4 Scout has 1 and 1.
TEST(LintLlama3, BandsInTheWrongOrder) {
  const auto block = [](const char* low, const char* high) {
    return scaled(str(R"("rope_type": "llama3", "factor": 8.0, "low_freq_factor": )", low,
                      R"(, "high_freq_factor": )", high,
                      R"(, "original_max_position_embeddings": 1024)"));
  };
  expect_findings("llama3-bands", block("4.0", "1.0"),
                  "error llama3-bands | rope_scaling.low_freq_factor | 4 | above 0 and at most "
                  "high_freq_factor | low_freq_factor 4 must be above 0 and at most "
                  "high_freq_factor 1; Llama 3.1 has 1 and 4\n");
  expect_silent("llama3-bands", block("1.0", "4.0"));
  expect_silent("llama3-bands", block("1.0", "1.0"));
}

TEST(LintYarn, BetasInTheWrongOrder) {
  expect_findings("yarn-betas",
                  scaled(R"("type": "yarn", "factor": 2.0, "beta_fast": 1.0, "beta_slow": 32.0,
                            "original_max_position_embeddings": 2048)"),
                  "error yarn-betas | rope_scaling.beta_fast | 1 | beta_slow or more | beta_fast 1 "
                  "must not be below beta_slow 32 and both above 0; the usual values are 32 and "
                  "1\n");
  expect_silent("yarn-betas",  // Kimi K2
                scaled(R"("type": "yarn", "factor": 2.0, "beta_fast": 1.0, "beta_slow": 1.0,
                          "original_max_position_embeddings": 2048)"));
}

// Case 3, gpt-oss: low 8.092779115512402, high 17.39802450158856, rounded 8/18, pair 17 1.763x.
TEST(LintYarn, TruncateIsANote) {
  const std::string base = R"("rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0,
      "beta_slow": 1.0, "original_max_position_embeddings": 4096)";
  const std::string more =
      R"("head_dim": 64, "rope_theta": 150000, "max_position_embeddings": 131072)";
  expect_findings(
      "yarn-truncate",
      scaled(base + R"(, "truncate": false)", more, "max_position_embeddings rope_theta"),
      "note yarn-truncate | rope_scaling.truncate | false |  | the ramp runs over pairs "
      "8.092779116 to 17.3980245 as written; a reader that rounds uses 8 to 18, pair 17 "
      "then turns 1.763x as fast\n");
  expect_silent("yarn-truncate",
                scaled(base + R"(, "truncate": true)", more, "max_position_embeddings rope_theta"));
  expect_silent("yarn-truncate", scaled(base, more, "max_position_embeddings rope_theta"));
}

// m(x) = 0.1 x ln 40 + 1: m(1) = 1.368887945, m(0.707) = 1.260803777, ratio 1.085726399.
TEST(LintYarn, MscalePairs) {
  const std::string base = R"("type": "yarn", "factor": 40,
      "original_max_position_embeddings": 4096)";
  expect_findings("yarn-mscale", scaled(base + R"(, "mscale": 0.707)"),
                  "warning yarn-mscale | rope_scaling.mscale_all_dim | nothing | both or none | "
                  "only mscale is given: transformers ignores it (amplitude 1.368887945), "
                  "DeepSeek's code and vLLM use it (1.260803777); give both or none\n");
  expect_findings("yarn-mscale", scaled(base + R"(, "mscale_all_dim": 1.0)"),
                  "warning yarn-mscale | rope_scaling.mscale | nothing | both or none | only "
                  "mscale_all_dim is given: transformers ignores it (amplitude 1.368887945), "
                  "DeepSeek's code and vLLM use it (1); give both or none\n");
  expect_findings("yarn-mscale", scaled(base + R"(, "mscale": 1.0, "mscale_all_dim": 0.707)"),
                  "note yarn-mscale | rope_scaling.mscale | 1 |  | mscale 1 and mscale_all_dim "
                  "0.707 differ: amplitude 1.085726399, logits x1.178802\n");
  expect_silent("yarn-mscale", scaled(base + R"(, "mscale": 1.0, "mscale_all_dim": 1.0)"));
  expect_silent("yarn-mscale", scaled(base + R"(, "mscale": 1.0)"));  // as the default
  expect_silent("yarn-mscale", scaled(base));
}

// Case 4 (factor 64: 1.415888308, logits x2.004740) and 43 (factor 16: 1.277258872, x1.631390).
TEST(LintYarn, ExplicitAttentionFactor) {
  const auto block = [](const char* factor, const char* given) {
    return scaled(str(R"("rope_type": "yarn", "original_max_position_embeddings": 1024,
        "factor": )",
                      factor, R"(, "attention_factor": )", given));
  };
  expect_findings("attention-factor-explicit", block("64.0", "1.0"),
                  "note attention-factor-explicit | rope_scaling.attention_factor | 1.0 | "
                  "1.415888308 | amplitude 1.0 is given; the formula would give 1.415888308: a "
                  "reader that drops the key has logits x2.00474\n");
  expect_findings("attention-factor-explicit", block("16.0", "1.0"),
                  "note attention-factor-explicit | rope_scaling.attention_factor | 1.0 | "
                  "1.277258872 | amplitude 1.0 is given; the formula would give 1.277258872: a "
                  "reader that drops the key has logits x1.63139\n");
  expect_silent("attention-factor-explicit", block("4.0", "1.138629436111989"));
  ResolvedModel bad;
  bad.raw =
      RawConfig::from_json(R"({"rope_scaling": {"type": "yarn", "attention_factor": -1}})", "c");
  expect_findings("attention-factor-explicit", bad,
                  "error attention-factor-explicit | rope_scaling.attention_factor | -1 | a number "
                  "above 0 | attention_factor must be above 0, found -1\n");
}

// Case 16: pairs from the ramp's begin at 23 on and the amplitude change at every length.
TEST(LintYarn, StaticScalingNamesThePairsThatMove) {
  const ResolvedModel model = resolve_config(qwen(R"("type": "yarn", "factor": 4.0,
                             "original_max_position_embeddings": 32768)",
                                                  "131072"),
                                             "c");
  expect_findings("yarn-static", model,
                  "note yarn-static | rope_scaling | yarn |  | this scaling holds at every length: "
                  "in prompts under 32768 tokens too, pairs after 23 (24 to 63, 40 of 64) turn "
                  "slower and the amplitude is 1.138629436\n");
  expect_silent("yarn-static", scaled(R"("type": "linear", "factor": 4.0)"));
}

// Case 12: base 30527.737 at 8192 tokens; d = 128, b = 1e4, s = 2, M = 4096.
TEST(LintLengthDependent, DynamicNamesBothBases) {
  expect_findings("length-dependent-table", scaled(R"("type": "dynamic", "factor": 2.0)"),
                  "note length-dependent-table | rope_scaling | dynamic |  | the base follows the "
                  "length: 10000 up to 4096 tokens, 30527.737 at 8192; keys cached already rotated "
                  "keep the base of their time, so re-rotate them or cache keys unrotated\n");
  expect_silent("length-dependent-table", scaled(R"("type": "linear", "factor": 2.0)"));
}

// Cases 13 and 14, by hand: a table of 2 pairs and list (1, 2) against (1, 8).
TEST(LintLengthDependent, LongRopeNamesThePairThatChangesMost) {
  const ResolvedModel model =
      scaled(R"("type": "longrope", "short_factor": [1.0, 2.0], "long_factor": [1.0, 8.0])",
             R"("head_dim": 4, "original_max_position_embeddings": 1024)");
  expect_findings("length-dependent-table", model,
                  "note length-dependent-table | all | two tables |  | the table changes past 1024 "
                  "tokens: pair 1 from 0.005 to 0.00125 rad per token; a reader that chooses by "
                  "allocated context rotates short prompts with the long table, and cached keys "
                  "must be rotated anew when the length is crossed\n");
}

TEST(LintLongRope, ListsMustFitThePairs) {
  expect_findings(
      "longrope-lists",
      scaled(R"("type": "longrope", "short_factor": [1.0, 1.0], "long_factor": [1.0])",
             R"("head_dim": 4, "original_max_position_embeddings": 1024)"),
      "error longrope-lists | rope_scaling.long_factor | 1 | 2 | 'long_factor' has 1 items for 2 "
      "rotated pairs (rotary dim 4); one per pair is needed\n");
  ResolvedModel bad;
  bad.raw = RawConfig::from_json(R"({"rope_scaling": {"type": "longrope",
      "short_factor": [1.0, 0.0], "long_factor": "x"}})",
                                 "c");
  expect_findings("longrope-lists", bad,
                  "error longrope-lists | rope_scaling.short_factor | 0 | above 0 | 'short_factor' "
                  "item 1 is 0; divisors must be above 0\n"
                  "error longrope-lists | rope_scaling.long_factor | x | a list of numbers | "
                  "'long_factor' must be a list of numbers, found x\n"
                  "error longrope-lists | rope_scaling.long_factor | 0 | 2 | long_factor has 0 "
                  "items, short_factor 2; both need one per rotated pair\n");
  expect_silent(
      "longrope-lists",
      scaled(R"("type": "longrope", "short_factor": [1.0, 1.0], "long_factor": [1.0, 2.0])",
             R"("head_dim": 4, "original_max_position_embeddings": 1024)"));
}

// Case 45.
TEST(LintLongRope, PerLayerKind) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(R"({"rope_parameters": {"full_attention":
      {"rope_type": "longrope", "short_factor": [1.0], "long_factor": [2.0]}}})",
                                   "c");
  expect_findings(
      "longrope-per-layer", model,
      "warning longrope-per-layer | rope_parameters.full_attention.rope_type | longrope "
      "|  | longrope for the layer kind 'full_attention' alone: transformers 5.18 stops "
      "with UnboundLocalError on the second pass beyond the original length; test it or "
      "use one block for all layers\n");
  model.raw = RawConfig::from_json(R"({"rope_parameters": {"rope_type": "longrope"}})", "c");
  expect_silent("longrope-per-layer", model);
}

}  // namespace
}  // namespace gyre::inspect
