// Field cases 46 and 47, found on transformers 5.18: settings that are accepted there with at most
// a line in the log. Neighbours as in cases_factors_test.cpp.
#include "gyre/inspect/cases/cases_testing.h"

namespace gyre::inspect::cases {
namespace {

const std::string kHead =
    R"("head_dim": 64, "hidden_size": 512, "num_attention_heads": 8, "num_key_value_heads": 8,
    "num_hidden_layers": 1, "max_position_embeddings": 2048)";

TEST(Case46, LlamaDeliversAllPairsAndTheFileIsAnError) {
  const ResolvedModel model = config("llama", kHead + ", \"partial_rotary_factor\": 0.5");
  EXPECT_EQ(only(model).n_pairs(), 32);  // what the class delivers
  EXPECT_EQ(loud(model),
            "error partial-factor-dropped partial_rotary_factor '0.5', expected 'a class that "
            "reads it'\n");
  expect_says(model, "partial-factor-dropped", "asks for 16 of 32 pairs");
  EXPECT_NE(ignored(model, "partial_rotary_factor"), "");
}

TEST(Case46, ItsKinAndTheNestedKey) {
  for (const char* family : {"mistral", "qwen2", "qwen3", "gemma", "olmo2"}) {
    const ResolvedModel model = config(family, kHead + R"(, "rope_parameters": {
        "rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5})");
    EXPECT_EQ(only(model).n_pairs(), 32) << family;
    EXPECT_EQ(told(model, "partial-factor-dropped"),
              "error partial-factor-dropped rope_parameters.partial_rotary_factor '0.5', expected "
              "'a class that reads it'\n")
        << family;
  }
}

TEST(Case46, OtherTypesOfTheSameClassHonourIt) {
  const ResolvedModel model = config("llama", kHead + R"(, "partial_rotary_factor": 0.5,
      "rope_scaling": {"rope_type": "linear", "factor": 2.0})");
  EXPECT_EQ(only(model).n_pairs(), 16);
  expect_near(band(only(model), 15), plain(15, 1e4, 32) / 2.0);
  EXPECT_EQ(told(model, "partial-factor-dropped"), "");
}

TEST(Case46, ClassesThatReadItAndUnknownOnesHaveHalf) {
  for (const char* family : {"phi", "glm4", "stablelm", "nemotron", "nobody_knows_me"}) {
    const ResolvedModel model = config(family, kHead + ", \"partial_rotary_factor\": 0.5");
    EXPECT_EQ(only(model).n_pairs(), 16) << family;
    EXPECT_EQ(loud(model), "") << family;
  }
}

ResolvedModel with(const std::string& block, const std::string& name = "rope_scaling") {
  return config("llama", kHead + ", \"" + name + "\": {" + block + "}");
}

TEST(Case47, EachOfTheFourIsAnErrorWithItsKey) {
  EXPECT_EQ(told(with(R"("rope_type": "yarm", "factor": 4.0)"), "rope-type-unknown"),
            "error rope-type-unknown rope_scaling.rope_type 'yarm', expected 'yarn'\n");
  EXPECT_EQ(loud(with(R"("rope_type": "linear", "factor": 0.25)")),
            "error factor-below-one rope_scaling.factor '0.25', expected '1 or more'\n");
  EXPECT_EQ(told(with(R"("rope_type": "linear", "facter": 4.0)"), "rope-key-unknown"),
            "error rope-key-unknown rope_scaling.facter 'facter', expected 'factor'\n");
  EXPECT_EQ(loud(with(R"("rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4,
      "high_freq_factor": 1, "original_max_position_embeddings": 1024)")),
            "error llama3-bands rope_scaling.low_freq_factor '4', expected 'above 0 and at most "
            "high_freq_factor'\n");
}

TEST(Case47, MessagesNameTheNearestValidOne) {
  expect_says(with(R"("rope_type": "yarm", "factor": 4.0)"), "rope-type-unknown",
              "unknown rope type 'yarm'; did you mean 'yarn'?");
  expect_says(with(R"("rope_type": "linear", "facter": 4.0)"), "rope-key-unknown",
              "did you mean 'factor'?");
}

// The same in the newer block, in that of one layer kind, and in a multimodal file.
TEST(Case47, TheSameInEveryBlock) {
  EXPECT_EQ(
      told(with(R"("rope_type": "dynamc", "factor": 4.0)", "rope_parameters"), "rope-type-unknown"),
      "error rope-type-unknown rope_parameters.rope_type 'dynamc', expected 'dynamic'\n");
  const ResolvedModel kinds = config("olmo3", kHead + R"(, "rope_parameters": {
      "full_attention": {"rope_type": "yarn", "factor": 0.5, "betafast": 32,
        "original_max_position_embeddings": 2048},
      "sliding_attention": {"rope_type": "default"}})");
  EXPECT_EQ(told(kinds, "factor-below-one"),
            "error factor-below-one rope_parameters.full_attention.factor '0.5', expected '1 or "
            "more'\n");
  EXPECT_EQ(told(kinds, "rope-key-unknown"),
            "error rope-key-unknown rope_parameters.full_attention.betafast 'betafast', expected "
            "'beta_fast'\n");
  const ResolvedModel nested = config(
      "llava", "\"text_config\": {\"model_type\": \"llama\", " + kHead + R"(, "rope_scaling": {
      "rope_type": "lama3", "factor": 8.0, "low_freq_factor": 1, "high_freq_factor": 4,
      "original_max_position_embeddings": 1024}})");
  EXPECT_EQ(told(nested, "rope-type-unknown"),
            "error rope-type-unknown text_config.rope_scaling.rope_type 'lama3', expected "
            "'llama3'\n");
}

// Other pairs of numbers in the wrong order, and other names.
TEST(Case47, OtherSettingsOfTheKind) {
  EXPECT_EQ(told(with(R"("rope_type": "yarn", "factor": 4.0, "beta_fast": 1, "beta_slow": 32,
      "original_max_position_embeddings": 512)"),
                 "yarn-betas"),
            "error yarn-betas rope_scaling.beta_fast '1', expected 'beta_slow or more'\n");
  EXPECT_EQ(told(with(R"("type": "Yarn", "factor": 4.0, "orignal_max_position_embeddings": 512)"),
                 "rope-key-unknown"),
            "error rope-key-unknown rope_scaling.orignal_max_position_embeddings "
            "'orignal_max_position_embeddings', expected 'original_max_position_embeddings'\n");
  EXPECT_EQ(told(with(R"("type": "Yarn", "factor": 4.0)"), "rope-type-unknown"),
            "error rope-type-unknown rope_scaling.type 'Yarn', expected 'yarn'\n");
  EXPECT_EQ(told(with(R"("rope_type": "dynamic", "factor": -2)"), "factor-below-one"),
            "error factor-below-one rope_scaling.factor '-2', expected '1 or more'\n");
}

TEST(Case47, TheSameInAGguf) {
  EXPECT_EQ(told(read(gguf("llama", 4096).text("llama.rope.scaling.type", "yarm")), "gguf-scaling"),
            "error gguf-scaling llama.rope.scaling.type 'yarm', expected 'yarn'\n");
  EXPECT_EQ(told(read(gguf("llama", 4096)
                          .text("llama.rope.scaling.type", "linear")
                          .f32("llama.rope.scaling.factor", 0.25F)),
                 "factor-below-one"),
            "error factor-below-one llama.rope.scaling.factor '0.25', expected '1 or more'\n");
}

}  // namespace
}  // namespace gyre::inspect::cases
