// Broken configs as found in the field that gave no word before: misspelled keys, blocks that are
// none, kinds that no layer has, lengths and bases that cannot be.
#include "gyre/inspect/lint/test_models.h"

namespace gyre::inspect {
namespace {

std::string ids_of(const std::vector<Finding>& found) {
  std::string out;
  for (const Finding& one : found) {
    out += one.severity == Severity::Error     ? "error "
           : one.severity == Severity::Warning ? "warning "
                                               : "note ";
    out += one.key + " -> " + one.expected + "\n";
  }
  return out;
}

std::string told(const std::string& id, const ResolvedModel& model) {
  return ids_of(findings_of(rule(id), model));
}

ResolvedModel llama3(const std::string& original, const std::string& more,
                     const std::string& without) {
  return scaled(str(R"("rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                    "high_freq_factor": 4.0, "original_max_position_embeddings": )",
                    original),
                more, without);
}

ResolvedModel gemma3(const std::string& more) {
  return resolve_config(
      R"({"model_type": "gemma3_text", "hidden_size": 2560, "num_hidden_layers": 12,
          "num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 256,
          "max_position_embeddings": 131072)" +
          more + "}",
      "c");
}

TEST(LintMisspelled, NearestKeyIsNamed) {
  expect_findings("key-misspelled", config(R"("rope_tetha": 500000.0)", "rope_theta"),
                  "error key-misspelled | rope_tetha | rope_tetha | rope_theta | nobody reads "
                  "'rope_tetha'; did you mean 'rope_theta'? it is not in the file and its default "
                  "is used\n");
  for (const auto& [name, right] : std::vector<std::pair<std::string, std::string>>{
           {"ropetheta", "rope_theta"},
           {"partial_rotary_factr", "partial_rotary_factor"},
           {"max_position_embedding", "max_position_embeddings"},
           {"num_attention_head", "num_attention_heads"},
           {"num_key_values_heads", "num_key_value_heads"},
           {"headdim", "head_dim"}}) {
    EXPECT_EQ(told("key-misspelled", config(str("\"", name, "\": 64"), right)),
              str("error ", name, " -> ", right, "\n"));
  }
  for (const char* name : {"rope_scalling", "ropeScaling"}) {
    EXPECT_EQ(told("key-misspelled", config(str("\"", name, R"(": {"type": "linear"})"))),
              str("error ", name, " -> rope_scaling\n"));
  }
  EXPECT_EQ(told("key-misspelled", resolve_config(R"({"model_type": "smollm3",
                                       "no_rope_layer": [1, 1, 1, 0], "num_hidden_layers": 4})",
                                                  "c")),
            "error no_rope_layer -> no_rope_layers\n");
  EXPECT_EQ(told("key-misspelled",
                 config(R"("model_type": "mine", "rope_tetha": 1e6)", "model_type rope_theta")),
            "warning rope_tetha -> rope_theta\n");
}

TEST(LintMisspelled, OtherKeysAreSilent) {
  // Their neighbour is in the file, is another key, or belongs to another part.
  for (const char* more :
       {R"("rope_thetas": 1)", R"("_head_dim": 6, "_sliding_window": 6)",
        R"("v_head_dim": 128, "qk_nope_head_dim": 64, "mamba_head_dim": 8)",
        R"("num_experts": 8, "head_dims": [1], "rope_scaling_type": {"a": 1})",
        R"("vision_config": {"rope_tetha": 1, "headdim": 64})", R"("rope_scalling": 4)",
        R"("num_attention_sinks": 4, "use_head_dim": true, "hidden_act": "silu")"}) {
    EXPECT_EQ(told("key-misspelled", config(more)), "") << more;
  }
}

TEST(LintRopeBlocks, ThatAreNoObject) {
  for (const char* value : {"\"yarn\"", "5", "[1, 2]"}) {
    EXPECT_EQ(told("rope-value-type", config(str("\"rope_scaling\": ", value))),
              "error rope_scaling -> an object or null\n");
  }
  expect_silent("rope-value-type", config(R"("rope_scaling": null)"));
  EXPECT_EQ(told("rope-value-type", scaled(R"("type": "yarn", "factor": 4, "truncate": "false")")),
            "error rope_scaling.truncate -> true or false\n");
  expect_silent("rope-value-type", scaled(R"("type": "yarn", "factor": 4, "truncate": false)"));
}

TEST(LintRopeBlocks, TypeFarFromAnyName) {
  for (const char* type : {"foo", "abf"}) {
    EXPECT_EQ(
        told("rope-type-unknown", scaled(str("\"rope_type\": \"", type, "\", \"factor\": 8"))),
        "error rope_scaling.rope_type -> \n");
  }
}

TEST(LintRopeBlocks, KindsThatNobodyReads) {
  EXPECT_EQ(told("rope-kind-unmatched", gemma3(R"(, "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": 1000000.0},
                "slidingattention": {"rope_type": "default", "rope_theta": 10000.0}})")),
            "error rope_parameters.slidingattention -> sliding_attention\n");
  expect_silent("rope-kind-unmatched", gemma3(R"(, "rope_parameters": {
                "full_attention": {"rope_type": "default", "rope_theta": 1000000.0},
                "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})"));
  EXPECT_EQ(told("rope-kind-unmatched",
                 config(R"("rope_scaling": {"full_attention": {"rope_type": "llama3"}})")),
            "error rope_scaling.full_attention -> rope_parameters\n");
}

TEST(LintLengths, OriginalLengthThatExtendsNothing) {
  const std::string llama = R"("max_position_embeddings": 131072, "rope_theta": 500000.0,
                               "vocab_size": 128256)";
  const std::string without = "max_position_embeddings rope_theta vocab_size";
  EXPECT_EQ(told("original-length-wrong", llama3("131072", llama, without)),
            "error rope_scaling.original_max_position_embeddings -> 8192\n");
  expect_silent("original-length-wrong", llama3("8192", llama, without));
  EXPECT_EQ(told("original-length-wrong", llama3("4096", "", "")),
            "warning rope_scaling.original_max_position_embeddings -> the length before "
            "extension\n");
  EXPECT_EQ(told("original-length-wrong", scaled(R"("type": "longrope", "short_factor": [1.0],
                  "long_factor": [2.0], "original_max_position_embeddings": 4096)")),
            "warning rope_scaling.original_max_position_embeddings -> the length before "
            "extension\n");
}

TEST(LintLengths, MissingMaxPositionTakesTheClassDefault) {
  expect_findings("original-length-wrong", llama3("8192", "", "max_position_embeddings"),
                  "warning original-length-wrong | max_position_embeddings | nothing | the "
                  "extended length | max_position_embeddings is not in the file; LlamaConfig "
                  "takes 2048, less than the original length 8192; add it\n");
}

TEST(LintLengths, BasesThatCannotBe) {
  EXPECT_EQ(told("max-extended-without-scaling", config(R"("max_position_embeddings": 131072)",
                                                        "max_position_embeddings vocab_size")),
            "warning max_position_embeddings -> \n");
  expect_silent("max-extended-without-scaling", config("", "vocab_size"));
  EXPECT_EQ(told("base-invalid", llama3("8192", R"("max_position_embeddings": 131072)",
                                        "max_position_embeddings rope_theta")),
            "warning rope_theta -> 500000\n");
  EXPECT_EQ(told("base-invalid", gemma3(R"(, "sliding_window": 512, "rope_theta": 10000,
                                            "rope_local_base_freq": 1000000)")),
            "warning rope_theta -> 1000000\n");
  expect_silent("base-invalid", gemma3(R"(, "sliding_window": 512)"));
  ResolvedModel dots = config("");  // 50000 on windowed layers, 10000 on the others
  dots.kinds = {rotating_kind(5e4, 64), rotating_kind(1e4, 64)};
  dots.kinds[0].plan.mask.window = 512;
  expect_silent("base-invalid", dots);
}

// The model card's recipe: yarn 4 over 32768 with max_position_embeddings left at 40960.
TEST(LintLengths, RecipeOfQwen3IsANote) {
  const auto qwen3 = [](const char* factor) {
    return config(str(R"("model_type": "qwen3", "rope_theta": 1000000,
        "max_position_embeddings": 40960, "rope_scaling": {"rope_type": "yarn", "factor": )",
                      factor, R"(, "original_max_position_embeddings": 32768})"),
                  "model_type rope_theta max_position_embeddings");
  };
  EXPECT_EQ(told("factor-length-mismatch", qwen3("4.0")), "note rope_scaling.factor -> 1.25\n");
  EXPECT_EQ(told("factor-length-mismatch", qwen3("1.1")), "warning rope_scaling.factor -> 1.25\n");
}

TEST(LintWindows, NullWindowOfAClassThatSlides) {
  expect_findings("sliding-window", gemma3(R"(, "sliding_window": null)"),
                  "error sliding-window | sliding_window | null | a number of keys | the model has "
                  "sliding_attention layers, but sliding_window is null; give the window in "
                  "tokens\n");
  expect_silent("sliding-window", gemma3(""));
}

TEST(LintWidths, OddHeadAndTwoPartialFactors) {
  EXPECT_EQ(told("rotary-dim-invalid", config(R"("head_dim": 127)")),
            "error all: head dim -> even\n");
  EXPECT_EQ(told("partial-factor-conflict", config(R"("model_type": "gpt_neox", "rotary_pct": 0.25,
                           "partial_rotary_factor": 0.5)",
                                                   "model_type")),
            "error partial_rotary_factor -> 0.25\n");
}

TEST(LintNope, ListUnlikeTheClass) {
  const auto smollm3 = [](const char* list) {
    return resolve_config(str(R"({"model_type": "smollm3", "num_hidden_layers": 8,
                                  "no_rope_layers": )",
                              list, "}"),
                          "c");
  };
  EXPECT_EQ(told("nope-list", smollm3("[0, 1, 1, 1, 0, 1, 1, 1]")),
            "warning no_rope_layers -> 0 at every layer i with (i + 1) % 4 = 0\n");
  EXPECT_EQ(told("nope-list", smollm3("[0, 0, 0, 0, 0, 0, 0, 0]")),
            "warning no_rope_layers -> 0 at every layer i with (i + 1) % 4 = 0\n");
  EXPECT_EQ(told("nope-list", smollm3("[1, 1, 1, 1, 1, 1, 1, 1]")),
            "warning no_rope_layers -> 0 at every layer i with (i + 1) % 4 = 0\n");
  EXPECT_EQ(told("nope-list", smollm3("[0, 1, 1, 1, 0, 1, 1, 1], \"no_rope_layer_interval\": 4")),
            "warning no_rope_layers -> 0 at every layer i with (i + 1) % 4 = 0\n");
  EXPECT_EQ(told("nope-list", smollm3("[1, 1, 1, 0, 1, 1, 1, 2]")),
            "error no_rope_layers -> 0 or 1\n");
  expect_silent("nope-list", smollm3("[1, 1, 1, 0, 1, 1, 1, 0]"));
}

TEST(LintGgufFreqs, BaseAndLengthAreEnough) {
  EXPECT_EQ(told("gguf-llama3-freqs",
                 gguf("llama", {{"context_length", 131072}, {"rope.freq_base", 5e5}})),
            "error rope_freqs.weight -> 64 values, the first 29 are 1, the last 29 are 8\n");
}

}  // namespace
}  // namespace gyre::inspect
