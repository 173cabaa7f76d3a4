// Field cases 27 to 30: what converters leave out of a GGUF, found in the file alone and by diff
// with the config it was made from. Neighbours as in cases_factors_test.cpp.
#include "gyre/inspect/cases/cases_testing.h"

namespace gyre::inspect::cases {
namespace {

ResolvedModel llama31() {
  return llama(R"("max_position_embeddings": 131072, "rope_theta": 500000.0,
      "vocab_size": 128256, "rope_scaling": {"rope_type": "llama3", "factor": 8,
      "low_freq_factor": 1, "high_freq_factor": 4, "original_max_position_embeddings": 8192})");
}
GgufBuilder llama31_gguf(const std::string& arch = "llama") {
  return gguf(arch, 131072, 5e5F).u32(arch + ".vocab_size", 128256);
}

const std::string kMissingFreqs =
    "error gguf-llama3-freqs rope_freqs.weight 'nothing', expected '64 values, the first 29 are 1, "
    "the last 29 are 8'\n";

// ggml-org/llama.cpp#8650, ik_llama.cpp#402
TEST(Case27, ALlama31GgufWithoutRopeFreqsIsAnError) {
  const ResolvedModel bare = read(llama31_gguf());
  EXPECT_EQ(loud(bare), kMissingFreqs);
  const std::vector<Finding> found = diff(llama31(), bare);
  expect_contains(messages(found, "diff-table"), "x8; the GGUF has no scaling");
  expect_contains(messages(found, "diff-table"), "rope_freqs.weight is missing");
}

TEST(Case27, The64DivisorsAreOnesAndEights) {
  const LayerKind all = only(llama31());
  for (size_t m = 0; m < 64; ++m) {
    const double divisor = plain(m, 5e5, 128) / band(all, m);
    EXPECT_EQ(std::abs(divisor - 1.0) < 1e-12, m < 29) << m;
    EXPECT_EQ(std::abs(divisor - 8.0) < 1e-11, m >= 64 - 29) << m;
  }
  const ResolvedModel file =
      read(llama31_gguf().floats("rope_freqs.weight", llama3_divisors(64, 8)));
  EXPECT_EQ(only(file).scheme, "llama3");
  EXPECT_EQ(loud(file) + loud(diff(llama31(), file)), "");
}

// Llama 3.2 (64 channels) and a pruned Llama 3.1 that has an architecture of its own.
TEST(Case27, OtherModelsWithTheSameScaling) {
  const ResolvedModel small = read(gguf("llama", 131072, 5e5F, 64).u32("llama.vocab_size", 128256));
  EXPECT_EQ(
      loud(small),
      "error gguf-llama3-freqs rope_freqs.weight 'nothing', expected '32 values, the first 15 "
      "are 1, the last 14 are 32'\n");
  EXPECT_EQ(loud(read(gguf("llama", 131072, 5e5F, 64)
                          .u32("llama.vocab_size", 128256)
                          .floats("rope_freqs.weight", llama3_divisors(32, 32)))),
            "");
  EXPECT_EQ(loud(read(llama31_gguf("deci"))), kMissingFreqs);
}

// Llama 4 Scout: ones, then sixteens, no blend. By hand the 35th pair is the first of wavelength
// above 8192: 64 ln(8192 / 2 pi) / ln 5e5 = 34.98.
TEST(Case27, TheStepOfLlama4IsRecognised) {
  std::vector<float> divisors(64, 16.0F);
  std::fill_n(divisors.begin(), 35, 1.0F);
  const ResolvedModel file = read(gguf("llama4", 10485760, 5e5F, 128, 8, 40)
                                      .u32("llama4.attention.key_length", 128)
                                      .floats("rope_freqs.weight", divisors));
  const LayerKind& chunked = kind(file, "chunked_attention");
  EXPECT_EQ(chunked.scheme, "llama3");
  EXPECT_EQ(chunked.factor, 16.0);
  expect_near(band(chunked, 34), plain(34, 5e5, 128));
  expect_near(band(chunked, 35), plain(35, 5e5, 128) / 16.0);
  const ResolvedModel hf = config("llama4_text", R"("hidden_size": 5120, "head_dim": 128,
      "num_attention_heads": 40, "num_key_value_heads": 8, "num_hidden_layers": 8,
      "max_position_embeddings": 10485760, "rope_theta": 500000.0, "rope_scaling": {
      "rope_type": "llama3", "factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 1.0,
      "original_max_position_embeddings": 8192})");
  EXPECT_EQ(loud(file) + loud(diff(hf, file)), "");
}

// Llama 3 before the extension, and models of another vocabulary, have none.
TEST(Case27, ModelsWithoutThatScalingAreSilent) {
  EXPECT_EQ(loud(read(gguf("llama", 8192, 5e5F).u32("llama.vocab_size", 128256))), "");
  EXPECT_EQ(loud(read(gguf("llama", 65536, 5e5F).u32("llama.vocab_size", 64000))), "");
}

ResolvedModel qwen3_moe(const std::string& type) {
  return config("qwen3_moe", R"("hidden_size": 4096, "head_dim": 128, "num_attention_heads": 32,
      "num_key_value_heads": 8, "num_hidden_layers": 4, "rope_theta": 1000000.0,
      "max_position_embeddings": 131072, "rope_scaling": {"rope_type": ")" +
                                 type + R"(", "factor": 4.0,
      "original_max_position_embeddings": 32768})");
}

// ggml-org/llama.cpp#13322
TEST(Case28, MissingYarnKeysAreNamed) {
  const std::vector<Finding> found = diff(qwen3_moe("yarn"), read(gguf("qwen3moe", 131072, 1e6F)));
  expect_contains(loud(found),
                  "error diff-scaling-keys qwen3moe.rope.scaling.type 'nothing', expected 'yarn'");
  expect_contains(messages(found, "diff-scaling-keys"),
                  "write qwen3moe.rope.scaling.type = yarn, qwen3moe.rope.scaling.factor = 4, "
                  "qwen3moe.rope.scaling.original_context_length = 32768");
}

TEST(Case28, YarnKeysThatAreThereAgree) {
  const ResolvedModel file = read(gguf("qwen3moe", 131072, 1e6F)
                                      .text("qwen3moe.rope.scaling.type", "yarn")
                                      .f32("qwen3moe.rope.scaling.factor", 4.0F)
                                      .u32("qwen3moe.rope.scaling.original_context_length", 32768));
  EXPECT_EQ(only(file).scheme, "yarn");
  EXPECT_EQ(only(file).factor, 4.0);
  EXPECT_EQ(file.original_length, 32768);
  EXPECT_EQ(loud(diff(qwen3_moe("yarn"), file)) + loud(file), "");
}

// The file alone: 131072 is more than Qwen3 was trained on.
TEST(Case28, TheGgufAloneIsSuspicious) {
  EXPECT_EQ(loud(read(gguf("qwen3moe", 131072, 1e6F))),
            "warning max-extended-without-scaling qwen3moe.context_length '131072', expected "
            "'40960'\n");
  EXPECT_EQ(loud(read(gguf("qwen3moe", 40960, 1e6F))), "");
}

// Another family and another type; half of the keys.
TEST(Case28, OtherConvertersAndHalfOfTheKeys) {
  const ResolvedModel vicuna = llama(R"("max_position_embeddings": 16384, "vocab_size": 32000,
      "rope_scaling": {"type": "linear", "factor": 4.0})");
  expect_contains(messages(diff(vicuna, read(gguf("llama", 16384))), "diff-scaling-keys"),
                  "write llama.rope.scaling.type = linear, llama.rope.scaling.factor = 4");
  EXPECT_EQ(told(read(gguf("glm4moe", 131072)
                          .text("glm4moe.rope.scaling.type", "yarn")
                          .u32("glm4moe.rope.scaling.original_context_length", 32768)),
                 "gguf-scaling"),
            "error gguf-scaling glm4moe.rope.scaling.factor 'nothing', expected 'a value'\n");
}

GgufBuilder gemma3_gguf() {
  return gguf("gemma3", 131072, 1e6F, 256, 12, 8).u32("gemma3.attention.sliding_window", 1024);
}
GgufBuilder gemma3_gguf_linear8() {
  return gemma3_gguf()
      .text("gemma3.rope.scaling.type", "linear")
      .f32("gemma3.rope.scaling.factor", 8.0F);
}
ResolvedModel gemma3(const std::string& full, const std::string& sliding) {
  return config("gemma3_text", R"("hidden_size": 2048, "num_hidden_layers": 12,
      "num_attention_heads": 8, "num_key_value_heads": 8, "max_position_embeddings": 131072,
      "sliding_window": 1024, "rope_parameters": {
      "full_attention": {"rope_theta": 1000000.0, )" +
                                   full + R"(}, "sliding_attention": {"rope_theta": 10000.0, )" +
                                   sliding + "}}");
}
const std::string kLinear8 = R"("rope_type": "linear", "factor": 8.0)";
const std::string kDefault = R"("rope_type": "default")";

void expect_angles(const ResolvedModel& model, double global, double local) {
  EXPECT_DOUBLE_EQ(2916.0 * band(kind(model, "full_attention"), 0), global);
  EXPECT_DOUBLE_EQ(2916.0 * band(kind(model, "sliding_attention"), 0), local);
}

// ggml-org/llama.cpp#14367, ollama#13452, mlx-vlm#1709, ferrox#39
TEST(Case29, Linear8IsForGlobalLayersAlone) {
  const ResolvedModel older = fixture("gemma-3-4b");
  const ResolvedModel newer = gemma3(kLinear8, kDefault);
  const ResolvedModel file = read(gemma3_gguf_linear8());
  for (const ResolvedModel* model : {&older, &newer, &file}) {
    expect_angles(*model, 364.5, 2916.0);
    EXPECT_EQ(loud(*model), "") << model->reader;
  }
  EXPECT_EQ(loud(diff(newer, file)), "");
}

// ollama#12348: some files are meant without the factor, so trust the file and report.
TEST(Case29, AMissingFactorIsTrustedAndReported) {
  const ResolvedModel file = read(gemma3_gguf());
  expect_angles(file, 2916.0, 2916.0);
  EXPECT_EQ(loud(file), "warning gemma3-linear full_attention: factor '1', expected '8'\n");
  expect_says(file, "gemma3-linear", "364.5");
  const std::vector<Finding> found = diff(gemma3(kLinear8, kDefault), file);
  expect_contains(messages(found, "diff-table"), "layers 5, 11: ");
  expect_contains(messages(found, "diff-table"), "x8; the GGUF has no scaling");
}

TEST(Case29, AFactorOnLocalLayersIsReported) {
  const ResolvedModel model = gemma3(kLinear8, kLinear8);
  expect_angles(model, 364.5, 364.5);
  EXPECT_EQ(loud(model), "warning gemma3-linear sliding_attention: factor '8', expected '1'\n");
  expect_says(model, "gemma3-linear", "364.5 instead of 2916");
}

// The 1B model has no factor at 32768; Olmo 3 extends full layers alone as well.
TEST(Case29, OtherModelsOfTheKind) {
  const ResolvedModel small = config("gemma3_text", R"("hidden_size": 1152,
      "num_hidden_layers": 12, "num_attention_heads": 4, "num_key_value_heads": 1,
      "max_position_embeddings": 32768, "rope_theta": 1000000, "rope_local_base_freq": 10000,
      "rope_scaling": null, "sliding_window": 512, "sliding_window_pattern": 6)");
  expect_angles(small, 2916.0, 2916.0);
  EXPECT_EQ(loud(small), "");
  const ResolvedModel olmo = config("olmo3", R"("num_hidden_layers": 8, "rope_theta": 500000,
      "max_position_embeddings": 65536, "rope_scaling": {"rope_type": "yarn", "factor": 8,
      "attention_factor": 1.2079441541679836, "original_max_position_embeddings": 8192})");
  EXPECT_DOUBLE_EQ(band(kind(olmo, "full_attention"), 63), plain(63, 5e5, 128) / 8.0);
  expect_near(band(kind(olmo, "sliding_attention"), 63), plain(63, 5e5, 128));
}

// vllm-project/vllm#7268
TEST(Case30, RopeFreqsIsConsumedAndChecked) {
  const ResolvedModel file =
      read(llama31_gguf().floats("rope_freqs.weight", llama3_divisors(64, 8)));
  ASSERT_EQ(file.tables.size(), 1U);
  EXPECT_EQ(file.tables[0].name, "rope_freqs.weight");
  EXPECT_EQ(ignored(file, "rope_freqs.weight"), "");
  EXPECT_NEAR(band(only(file), 63), 3.06892599e-07, 1e-14);
  EXPECT_EQ(loud(file), "");
  expect_contains(describe(file, {}), "rope_freqs.weight  F32  64 values");
}

TEST(Case30, DivisorsThatCannotBeRightAreErrors) {
  const ResolvedModel half =
      read(llama31_gguf().floats("rope_freqs.weight", llama3_divisors(32, 8)));
  EXPECT_EQ(loud(half), "error rope-freqs rope_freqs.weight '32', expected '64'\n");
  EXPECT_EQ(ignored(half, "rope_freqs.weight"), "it has 32 divisors, there are 64 pairs");
  std::vector<float> zero = llama3_divisors(64, 8);
  zero[7] = 0.0F;
  EXPECT_EQ(loud(read(llama31_gguf().floats("rope_freqs.weight", zero))),
            "error rope-freqs rope_freqs.weight '0', expected 'above 0'\n");
}

// A dummy of ones passes as a tensor but not as Llama 3.1's; divisors and yarn keys at once.
TEST(Case30, DivisorsAgainstTheMetadata) {
  const ResolvedModel ones =
      read(llama31_gguf().floats("rope_freqs.weight", std::vector<float>(64, 1.0F)));
  EXPECT_EQ(loud(ones),
            "warning rope-freqs rope_freqs.weight '1 ... 1', expected '1 ... 8 (Llama 3.1) or 1 "
            "... 32 (Llama 3.2)'\n");
  expect_contains(loud(diff(llama31(), ones)), "error diff-table frequency");
  EXPECT_EQ(loud(read(llama31_gguf()
                          .text("llama.rope.scaling.type", "linear")
                          .f32("llama.rope.scaling.factor", 8.0F)
                          .floats("rope_freqs.weight", llama3_divisors(64, 8)))),
            "warning rope-freqs rope_freqs.weight 'divisors', expected 'one kind of scaling'\n");
}

// Position tensors of other formats: a stored inv_freq among safetensors weights.
TEST(Case30, AStoredTableOfASafetensorsFolderIsChecked) {
  const std::string keys = R"({"model_type": "llama", "head_dim": 8, "hidden_size": 32,
      "num_attention_heads": 4, "num_hidden_layers": 1, "max_position_embeddings": 4096})";
  for (const float second : {0.1F, 0.2F}) {  // 1e4^(-2/8) = 0.1
    const std::string header = R"({"model.layers.0.self_attn.rotary_emb.inv_freq":)"
                               R"({"dtype":"F32","shape":[4],"data_offsets":[0,16]}})";
    std::string bytes = tensor::raw_bytes(uint64_t{header.size()}) + header;
    for (const float value : {1.0F, second, 0.01F, 0.001F}) {
      bytes += tensor::raw_bytes(value);
    }
    const Scratch scratch(second > 0.15F ? "wrong" : "right");
    scratch.write("config.json", keys);
    scratch.write("model.safetensors", bytes);
    const ResolvedModel model = resolve(scratch.folder());
    ASSERT_EQ(model.tables.size(), 1U);
    EXPECT_EQ(loud(model).find("error table-mismatch") != std::string::npos, second > 0.15F)
        << loud(model);
  }
}

}  // namespace
}  // namespace gyre::inspect::cases
