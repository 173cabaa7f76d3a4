// Rules about heads, pairs, layers, windows and biases.
#include "gyre/inspect/lint/test_models.h"

namespace gyre::inspect {
namespace {

// Case 8.
TEST(LintPartial, TwoFactorsThatDisagree) {
  const auto text = [](const char* top) {
    return str(R"({"model_type": "glm4", "head_dim": 64, "num_hidden_layers": 2,
        "partial_rotary_factor": )",
               top, R"(, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
        "partial_rotary_factor": 0.25}})");
  };
  expect_findings("partial-factor-conflict", resolve_config(text("0.5"), "c"),
                  "error partial-factor-conflict | rope_parameters.partial_rotary_factor | 0.25 | "
                  "0.5 | partial factor is 0.5 at partial_rotary_factor and 0.25 in "
                  "rope_parameters; transformers v5 takes 0.25, readers of the older key 0.5; make "
                  "them equal\n");
  expect_silent("partial-factor-conflict", resolve_config(text("0.25"), "c"));
}

TEST(LintPartial, OuterFactorMayBeOfOneLayerKind) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(R"({"partial_rotary_factor": 0.25, "rope_parameters": {
      "full_attention": {"partial_rotary_factor": 0.25},
      "sliding_attention": {"partial_rotary_factor": 1.0}}})",
                                   "c");
  expect_silent("partial-factor-conflict", model);
}

// Case 46: 16 pairs asked for, 32 delivered.
TEST(LintPartial, DroppedByAClassThatDoesNotReadIt) {
  expect_findings(
      "partial-factor-dropped", config(R"("head_dim": 64, "partial_rotary_factor": 0.5)"),
      "error partial-factor-dropped | partial_rotary_factor | 0.5 | a class that reads it | "
      "partial "
      "factor 0.5 asks for 16 of 32 pairs, but model type 'llama' does not read it and rotates all "
      "32; delete it or use a class that reads it\n");
  expect_findings(
      "partial-factor-dropped",
      config(R"("head_dim": 64, "rope_parameters": {"rope_type": "default", "rope_theta": 1e4,
                "partial_rotary_factor": 0.5})",
             "rope_theta"),
      "error partial-factor-dropped | rope_parameters.partial_rotary_factor | 0.5 | a class that "
      "reads it | partial factor 0.5 asks for 16 of 32 pairs, but model type 'llama' does not read "
      "it and rotates all 32; delete it or use a class that reads it\n");
}

TEST(LintPartial, ReadByItsClassOrWholeIsSilent) {
  for (const char* type : {"glm4", "phi", "stablelm", "gpt_neox"}) {
    expect_silent("partial-factor-dropped",
                  config(str(R"("model_type": ")", type, R"(", "partial_rotary_factor": 0.5)"),
                         "model_type num_key_value_heads"));
  }
  expect_silent("partial-factor-dropped", config(R"("partial_rotary_factor": 1.0)"));
}

// Case 7: MiniMax-M2, 32 pairs; a reader that drops the key rotates 64.
TEST(LintRotaryDim, LegacyKeyAlone) {
  const std::string shape = R"("head_dim": 128, "rotary_dim": 64, "model_type": )";
  expect_findings(
      "rotary-dim-dropped", config(shape + R"("minimax_m2")", "model_type"),
      "note rotary-dim-dropped | rotary_dim | 64 | partial_rotary_factor 0.5 | only the "
      "legacy rotary_dim 64 says that a part of the 128 dims is rotated; a reader that "
      "does not know it rotates 64 pairs instead of 32; add partial_rotary_factor "
      "0.5\n");
  ResolvedModel unknown;
  unknown.model_type = "mine";
  unknown.raw = RawConfig::from_json(R"({"head_dim": 128, "rotary_dim": 64})", "c");
  const std::vector<Finding> found = findings_of(rule("rotary-dim-dropped"), unknown);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].severity, Severity::Warning);
  expect_silent("rotary-dim-dropped",
                config(shape + R"("minimax_m2", "partial_rotary_factor": 0.5)", "model_type"));
  expect_silent("rotary-dim-dropped",
                resolve_config(R"({"model_type": "gptj", "n_embd": 4096, "n_head": 16,
                    "n_layer": 2, "n_positions": 2048, "rotary_dim": 64})",
                               "c"));
}

TEST(LintRotaryDim, ContradictionsAreErrors) {
  ResolvedModel model;
  model.model_type = "mine";
  model.raw = RawConfig::from_json(
      R"({"head_dim": 128, "rotary_dim": 64, "partial_rotary_factor": 0.25})", "c");
  expect_findings("rotary-dim-dropped", model,
                  "error rotary-dim-dropped | rotary_dim | 64 | 32 | rotary_dim is 64, but "
                  "partial_rotary_factor 0.25 of head_dim 128 is 32; make them agree\n");
  model.kinds = {rotating_kind(1e4, 128)};
  expect_findings("rotary-dim-dropped", model,
                  "error rotary-dim-dropped | rotary_dim | 64 | 128 | rotary_dim is 64, but 128 "
                  "dims are rotated; write partial_rotary_factor\n");
}

TEST(LintRotaryDim, MustBeEvenAndInsideTheHead) {
  ResolvedModel model;
  model.kinds = {rotating_kind(1e4, 64)};
  expect_silent("rotary-dim-invalid", model);
  for (const int64_t width : {63, 66, 0}) {
    model.kinds[0].rotary_dim = width;
    expect_findings("rotary-dim-invalid", model,
                    str("error rotary-dim-invalid | all: rotated dim | ", width,
                        " | even, 2 to 64 | rotated dim ", width,
                        " of head dim 64 must be even, above 0 and at most the head dim\n"));
  }
}

TEST(LintRotaryDim, PartialFactorsOutOfRange) {
  ResolvedModel model;
  model.known_type = true;
  model.raw = RawConfig::from_json(R"({"head_dim": 80, "partial_rotary_factor": 1.5,
      "rope_parameters": {"partial_rotary_factor": 0.3125}})",
                                   "c");
  expect_findings(
      "rotary-dim-invalid", model,
      "error rotary-dim-invalid | partial_rotary_factor | 1.5 | above 0 and at most 1 | "
      "partial factor must be above 0 and at most 1, found 1.5\n"
      "warning rotary-dim-invalid | rope_parameters.partial_rotary_factor | 0.3125 | an "
      "even width | partial factor 0.3125 of head_dim 80 rotates 25 dims, an odd "
      "number; transformers rounds pairs up, others down\n");
  model.raw = RawConfig::from_json(R"({"head_dim": 80, "partial_rotary_factor": 0.4})", "c");
  expect_silent("rotary-dim-invalid", model);
}

// Case 10: Mistral Nemo, 64 pairs, not 80.
TEST(LintHeadDim, ExplicitIsANote) {
  expect_findings("head-dim",
                  config(R"("model_type": "mistral", "hidden_size": 5120, "head_dim": 128)",
                         "model_type hidden_size"),
                  "note head-dim | head_dim | 128 |  | head_dim 128 is not hidden / heads = 5120 / "
                  "32 = 160; the key wins, a reader that divides rotates 80 pairs instead of 64\n");
  expect_silent("head-dim", config(R"("head_dim": 128)"));
  expect_silent("head-dim", config(""));
}

TEST(LintHeadDim, AbsentMustBeAnEvenQuotient) {
  expect_findings("head-dim", config(R"("hidden_size": 4100)", "hidden_size"),
                  "error head-dim | head_dim | nothing | a value | no head_dim, and hidden / heads "
                  "= 4100 / 32 = 128.125 is no whole number; add head_dim\n");
  expect_findings("head-dim", config(R"("hidden_size": 2080)", "hidden_size"),
                  "error head-dim | head_dim | nothing | an even value | no head_dim, and hidden / "
                  "heads = 65 is odd; channels rotate in pairs, so add an even head_dim\n");
  // the class has its own: Qwen3 128
  expect_silent("head-dim",
                config(R"("model_type": "qwen3", "hidden_size": 2080)", "model_type hidden_size"));
}

TEST(LintKvHeads, MustDivideTheHeads) {
  expect_findings("kv-heads", config(R"("num_key_value_heads": 5)", "num_key_value_heads"),
                  "error kv-heads | num_key_value_heads | 5 | a divisor of 32 | 5 key/value heads "
                  "do not divide 32 query heads; each must serve the same number\n");
  ResolvedModel model = gguf("llama", {});
  model.kinds[0].n_kv_heads = 64;
  EXPECT_EQ(findings_of(rule("kv-heads"), model).size(), 1U);
  expect_silent("kv-heads", config(""));
}

TEST(LintMrope, SectionsAddUpToThePairs) {
  const auto model = [](const char* sections) {
    return scaled(str(R"("type": "mrope", "mrope_section": )", sections));
  };
  expect_findings("mrope-section", model("[16, 24, 16]"),
                  "warning mrope-section | rope_scaling.mrope_section | 56 | 64 | mrope_section "
                  "[16, 24, 16] adds up to 56, but 64 pairs are rotated\n");
  expect_silent("mrope-section", model("[16, 24, 24]"));
}

// Case 25: D=512, b=1e6, partial 0.25: f1 = 0.947463526, wrong 0.805842188.
TEST(LintProportional, NamesBothExponents) {
  ResolvedModel model;
  model.kinds = {rotating_kind(1e6, 512)};
  model.raw = RawConfig::from_json(R"({"rope_parameters": {"rope_type": "proportional",
      "partial_rotary_factor": 0.25, "rope_theta": 1e6}})",
                                   "c");
  expect_findings("proportional-exponent", model,
                  "note proportional-exponent | rope_parameters.rope_type | proportional |  | "
                  "exponents are spread over all 512 dims: f1 = 0.947463526; a reader that divides "
                  "by the rotated 128 dims gets 0.805842188\n");
  model.raw = RawConfig::from_json(R"({"rope_parameters": {"rope_type": "default",
      "partial_rotary_factor": 0.25}})",
                                   "c");
  expect_silent("proportional-exponent", model);
}

TEST(LintLayerTypes, LengthAndNames) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(R"({"num_hidden_layers": 3,
      "layer_types": ["full_attention", "slidding_attention"]})",
                                   "c");
  expect_findings("layer-types", model,
                  "error layer-types | layer_types | 2 | 3 | layer_types has 2 entries for 3 "
                  "layers; one per layer is needed\n"
                  "error layer-types | layer_types | slidding_attention | sliding_attention | "
                  "unknown layer type 'slidding_attention' at layer 1; did you mean "
                  "'sliding_attention'?\n");
  model.raw = RawConfig::from_json(R"({"num_hidden_layers": 2,
      "layer_types": ["full_attention", "retention_xyz"]})",
                                   "c");
  expect_findings("layer-types", model,
                  "warning layer-types | layer_types | retention_xyz |  | unknown "
                  "layer type 'retention_xyz' at layer 1; no reader known here has it\n");
  model.raw = RawConfig::from_json(R"({"num_hidden_layers": 2,
      "layer_types": ["linear_attention", "full_attention"]})",
                                   "c");
  expect_silent("layer-types", model);
}

TEST(LintWindow, WithoutEffect) {
  const auto found = [](const std::string& more) {
    return config("\"model_type\": \"qwen2\", " + more, "model_type");
  };
  expect_findings("sliding-window", found(R"("sliding_window": 4096, "use_sliding_window": true)"),
                  "note sliding-window | sliding_window | 4096 |  | sliding_window 4096 covers all "
                  "4096 positions and has no effect\n");
  expect_findings(
      "sliding-window", found(R"("sliding_window": 1024, "use_sliding_window": false)"),
      "note sliding-window | sliding_window | 1024 |  | sliding_window 1024 is switched "
      "off by use_sliding_window\n");
  expect_silent("sliding-window", found(R"("sliding_window": 1024, "use_sliding_window": true)"));
  expect_silent("sliding-window", found(R"("sliding_window": null)"));
}

TEST(LintWindow, MissingOrNotPositive) {
  ResolvedModel model;
  model.raw = RawConfig::from_json(R"({"sliding_window": 0, "use_sliding_window": false})", "c");
  EXPECT_EQ(findings_of(rule("sliding-window"), model).at(0).severity, Severity::Note);
  model.raw = RawConfig::from_json(R"({"text_config": {"sliding_window": null,
      "layer_types": ["sliding_attention"]}})",
                                   "c");
  expect_findings("sliding-window", model,
                  "error sliding-window | sliding_window | null | a number of keys | layer_types "
                  "has sliding_attention layers, but sliding_window is null; give the window in "
                  "tokens\n");
  model.raw = RawConfig::from_json(R"({"sliding_window": -1})", "c");
  expect_findings(
      "sliding-window", model,
      "warning sliding-window | sliding_window | -1 | null or above 0 | sliding_window "
      "-1; some readers take it as no window, others as no keys; write null or a number "
      "above 0\n");
  model.raw = RawConfig::from_json(R"({"layer_types": ["sliding_attention"]})", "c");
  expect_silent("sliding-window", model);  // the class has a default
}

// Case 31: W = 4, query 10 sees keys 7 to 10; left = W in flash attention gives 5 keys.
TEST(LintWindow, Convention) {
  ResolvedModel model;
  model.max_length = 128;
  model.kinds = {rotating_kind(1e4, 64)};
  expect_silent("window-convention", model);
  model.kinds[0].plan.mask.window = 4;
  expect_findings("window-convention", model,
                  "note window-convention | all: window | 4 |  | a query sees 4 keys, itself "
                  "included: query 10 sees 7 to 10; in flash attention that is a left window of 3 "
                  "(4 would show 5 keys)\n");
  model.kinds[0].plan.mask.window = 128;
  expect_silent("window-convention", model);  // sees everything
}

// Case 32: 18 is 9 each side = 19 keys in transformers, 18 each side = 37 in the original code.
TEST(LintWindow, Longformer) {
  ResolvedModel model;
  model.model_type = "longformer";
  model.raw = RawConfig::from_json(R"({"attention_window": [18, 18]})", "c");
  expect_findings(
      "window-convention", model,
      "note window-convention | attention_window | 18 |  | attention_window 18 counts "
      "both sides: 9 keys each side, 19 with the query; in the original code the number "
      "is one side, 37 keys\n");
  model.model_type = "other";
  expect_silent("window-convention", model);
}

std::string nope_list(int64_t layers, int64_t interval, bool inverted) {
  std::string text = "[";
  for (int64_t i = 0; i < layers; ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string((((i + 1) % interval != 0) != inverted) ? 1 : 0);
  }
  return text + "]";
}

ResolvedModel nope_model(int64_t layers, const std::string& list, const std::string& more) {
  ResolvedModel model;
  model.model_type = "smollm3";
  model.raw = RawConfig::from_json(
      str(R"({"num_hidden_layers": )", layers, R"(, "no_rope_layers": )", list, more, "}"), "c");
  return model;
}

// Case 36: 36 layers, interval 4, no rotation at 3, 7, ..., 35 only.
TEST(LintNopeList, Inverted) {
  const std::string message =
      "error nope-list | no_rope_layers | 9 rotating layers | 27 rotating layers | no_rope_layers "
      "lets 9 of 36 layers rotate; an interval of 4 leaves rotation out of 9; the list is "
      "inverted: "
      "1 means that a layer rotates, write 0 for layers without rotation\n";
  const std::string interval = R"(, "no_rope_layer_interval": 4)";
  expect_findings("nope-list", nope_model(36, nope_list(36, 4, true), interval), message);
  expect_findings("nope-list", nope_model(36, nope_list(36, 4, true), ""), message);
  expect_silent("nope-list", nope_model(36, nope_list(36, 4, false), interval));
  expect_silent("nope-list", nope_model(48, nope_list(48, 4, false), ""));  // Llama 4
  expect_silent("nope-list", nope_model(48, "[]", ""));
}

TEST(LintNopeList, OtherIntervalOrLength) {
  expect_findings(
      "nope-list", nope_model(8, nope_list(8, 2, false), R"(, "no_rope_layer_interval": 4)"),
      "note nope-list | no_rope_layers | 4 rotating layers | 6 rotating layers | "
      "no_rope_layers and no_rope_layer_interval 4 differ at 2 layers; the list wins\n");
  expect_findings("nope-list", nope_model(8, "[1, 1, 1, 0]", ""),
                  "error nope-list | no_rope_layers | 4 | 8 | no_rope_layers has 4 entries for 8 "
                  "layers; one per layer is needed\n");
  expect_silent("nope-list",  // no layer without rotation: nothing is inverted
                nope_model(8, "[1, 1, 1, 1, 1, 1, 1, 1]", ""));
}

// Case 29: position 2916, pair 0: 364.5 on global layers, 2916 on local ones.
TEST(LintGemma3, FactorOnTheWrongLayers) {
  const auto gemma = [](const char* full, const char* sliding) {
    return resolve_config(
        str(R"({"model_type": "gemma3_text", "num_hidden_layers": 2, "head_dim": 256,
            "max_position_embeddings": 131072, "sliding_window": 1024,
            "layer_types": ["sliding_attention", "full_attention"],
            "rope_parameters": {"full_attention": {"rope_theta": 1000000.0, )",
            full, R"(}, "sliding_attention": {"rope_theta": 10000.0, )", sliding, "}}}"),
        "c");
  };
  const char* plain = R"("rope_type": "default")";
  const char* eight = R"("rope_type": "linear", "factor": 8.0)";
  expect_silent("gemma3-linear", gemma(eight, plain));
  const std::string local =
      "warning gemma3-linear | sliding_attention: factor | 8 | 1 | factor 8 on local layers: "
      "position 2916 turns pair 0 by 364.5 instead of 2916; Gemma 3 scales global layers alone\n";
  const std::string global =
      "warning gemma3-linear | full_attention: factor | 1 | 8 | length 131072 without a factor on "
      "global layers: position 2916 turns pair 0 by 2916; released 4B to 27B models have linear 8 "
      "and 364.5; some files are meant without it, so compare with the checkpoint\n";
  expect_findings("gemma3-linear", gemma(eight, eight), local);
  expect_findings("gemma3-linear", gemma(plain, plain), global);
  expect_findings("gemma3-linear", gemma(plain, eight), local + global);
  expect_findings(
      "gemma3-linear", gguf("gemma3", {{"context_length", 131072}}),
      "warning gemma3-linear | all: factor | 1 | 8 | length 131072 without a factor on "
      "global layers: position 2916 turns pair 0 by 2916; released 4B to 27B models have "
      "linear 8 and 364.5; some files are meant without it, so compare with the "
      "checkpoint\n");
  expect_silent("gemma3-linear", gguf("gemma3", {{"context_length", 32768}}));  // the 1B model
  expect_silent("gemma3-linear", gguf("gemma2", {{"context_length", 131072}}));
}

// BLOOM has 112 heads: 2^(-8/64) for the first of 64.
TEST(LintAlibi, HeadsThatAreNoPowerOfTwo) {
  ResolvedModel model = resolve_config(
      R"({"model_type": "bloom", "hidden_size": 14336, "n_layer": 2, "n_head": 112})", "c");
  expect_findings("alibi-heads", model,
                  "note alibi-heads | all: slopes | 112 |  | 112 heads are no power of two: "
                  "released code takes the 64 slopes of 64 heads and every second of 128, the "
                  "paper's text 2^(-8h/112); first slope here 0.9170040432\n");
  expect_silent(
      "alibi-heads",
      resolve_config(R"({"model_type": "bloom", "hidden_size": 1024, "n_layer": 2, "n_head": 16})",
                     "c"));
}

}  // namespace
}  // namespace gyre::inspect
