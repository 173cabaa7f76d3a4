// Lint and diff over GGUF bytes as the reader resolves them.
#include <unistd.h>

#include <filesystem>

#include "gyre/inspect/gguf_reader_testing.h"
#include "gyre/inspect/lint/test_models.h"

namespace gyre::inspect {
namespace {

std::string loud(const ResolvedModel& model) {
  std::vector<Finding> found = lint(model);
  std::erase_if(found, [](const Finding& one) { return one.severity == Severity::Note; });
  return written(found);
}

GgufBuilder llama31() {
  return model_of("llama").f32("llama.rope.freq_base", 500000.0F).u32("llama.vocab_size", 128256);
}

const char* kLlama31 = R"({"model_type": "llama", "hidden_size": 1024, "num_hidden_layers": 4,
    "num_attention_heads": 8, "num_key_value_heads": 2, "max_position_embeddings": 131072,
    "rope_theta": 500000.0, "rope_scaling": {"rope_type": "llama3", "factor": 8.0,
    "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192}})";

// Case 27.
TEST(GgufLint, Llama31NeedsItsTensor) {
  const std::vector<Finding> found = lint(resolved(llama31()));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].id, "gguf-llama3-freqs");
  EXPECT_EQ(found[0].severity, Severity::Error);
  EXPECT_EQ(loud(resolved(llama31().floats("rope_freqs.weight", divisors_of("llama-3.1-8b")))), "");
}

// A split model: a part alone cannot tell, all parts together can.
TEST(GgufLint, PartsOfASplitModelAreReadTogether) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / str("gyre_gguf_parts_", ::getpid());
  std::filesystem::create_directories(folder);
  const auto part = [&](int i) { return folder / str("m-0000", i, "-of-00002.gguf"); };
  const GgufBuilder first = llama31().u32("split.count", 2).u32("split.no", 0);
  const auto write_parts = [&](const GgufBuilder& second) {
    write_file_atomic(part(1), first.bytes());
    write_file_atomic(part(2), second.bytes());
  };
  write_parts(
      GgufBuilder().u32("split.no", 1).floats("rope_freqs.weight", divisors_of("llama-3.1-8b")));
  EXPECT_EQ(loud(resolve(part(1))), "");
  const ResolvedModel whole = resolve(folder);
  EXPECT_EQ(loud(whole), "");
  expect_table(whole.kinds.at(0), "llama-3.1-8b", 1e-6);
  write_parts(GgufBuilder().u32("split.no", 1));
  EXPECT_EQ(lint(resolve(folder)).at(0).id, "gguf-llama3-freqs");
  std::filesystem::remove(part(2));
  EXPECT_EQ(resolve(folder).tables.size(), 0u);  // one file: that file
  std::filesystem::remove_all(folder);
}

// Case 30.
TEST(GgufLint, RopeFreqsOfAWrongSize) {
  EXPECT_EQ(
      loud(resolved(llama31().floats("rope_freqs.weight", {1, 2}))),
      "error rope-freqs | rope_freqs.weight | 2 | 64 | 'rope_freqs.weight' has 2 divisors for "
      "64 pairs\n");
}

TEST(GgufLint, LongRopeNeedsBothLists) {
  const auto with = [](bool both) {
    GgufBuilder builder = model_of("phi3", 96);
    builder.floats("rope_factors_long.weight", divisors_of("phi-3-mini-128k-long"));
    if (both) {
      builder.floats("rope_factors_short.weight", divisors_of("phi-3-mini-128k-short"));
    }
    return loud(resolved(builder));
  };
  EXPECT_EQ(with(false),
            "error rope-freqs | rope_factors_long.weight |  |  | 'rope_factors_long.weight' has no "
            "effect: llama.cpp needs both lists\n");
  EXPECT_EQ(with(true), "");
}

// Case 28.
TEST(GgufLint, YarnKeys) {
  GgufBuilder builder = model_of("qwen3moe");
  builder.f32("qwen3moe.rope.freq_base", 1e6F);
  EXPECT_NE(loud(resolved(builder)).find("max-extended-without-scaling"), std::string::npos);
  builder.text("qwen3moe.rope.scaling.type", "yarn")
      .f32("qwen3moe.rope.scaling.factor", 4.0F)
      .u32("qwen3moe.rope.scaling.original_context_length", 32768);
  EXPECT_EQ(loud(resolved(builder)), "");
}

TEST(GgufDiff, CheckpointAndItsOwnGgufAgreeUpToANoteOnLayout) {
  const ResolvedModel config = resolve_config(kLlama31, "config.json");
  const ResolvedModel right =
      resolved(llama31().floats("rope_freqs.weight", divisors_of("llama-3.1-8b")));
  const std::vector<Finding> found = diff(config, right);
  ASSERT_EQ(found.size(), 1U) << written(found);
  EXPECT_EQ(found[0].id, "diff-layout");
  EXPECT_EQ(found[0].severity, Severity::Note);
}

TEST(GgufDiff, YarnRecipeAndItsGgufAgree) {
  const ResolvedModel config = resolve_config(
      R"({"model_type": "qwen2", "hidden_size": 1024, "num_hidden_layers": 4,
          "num_attention_heads": 8, "num_key_value_heads": 2, "max_position_embeddings": 131072,
          "rope_theta": 1000000.0, "rope_scaling": {"type": "yarn", "factor": 4.0,
          "original_max_position_embeddings": 32768}})",
      "config.json");
  GgufBuilder builder = model_of("qwen2");
  builder.f32("qwen2.rope.freq_base", 1e6F)
      .text("qwen2.rope.scaling.type", "yarn")
      .f32("qwen2.rope.scaling.factor", 4.0F)
      .u32("qwen2.rope.scaling.original_context_length", 32768);
  EXPECT_EQ(written(diff(config, resolved(builder))), "");
  EXPECT_EQ(written(diff(resolved(builder), config)), "");
}

TEST(GgufDiff, MissingTensorIsFound) {
  const std::vector<Finding> found =
      diff(resolve_config(kLlama31, "config.json"), resolved(llama31()));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(
      found[0].message,
      "all layers: frequency of pair 35 is 9.55621235e-05 in the config and 0.000764496988 "
      "in the GGUF; the largest difference, x8; the GGUF has no scaling, rope_freqs.weight is "
      "missing");
}

}  // namespace
}  // namespace gyre::inspect
