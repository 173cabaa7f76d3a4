// Field cases 7 to 11, 23 and 25: how many channels rotate, how exponents are spread, lengths
// beyond the trained one, layers without rotation. Neighbours as in cases_factors_test.cpp.
#include "gyre/inspect/cases/cases_testing.h"

namespace gyre::inspect::cases {
namespace {

// huggingface/transformers#48241
TEST(Case07, RotaryDimOfMiniMaxM2IsHonoured) {
  const ResolvedModel model = config("minimax_m2", R"("head_dim": 128, "hidden_size": 3072,
      "num_attention_heads": 48, "num_key_value_heads": 8, "num_hidden_layers": 62,
      "max_position_embeddings": 196608, "rope_theta": 5000000, "rotary_dim": 64)");
  EXPECT_EQ(only(model).n_pairs(), 32);
  expect_printed(band(only(model), 1), "0.617528758");
  expect_printed(band(only(model), 31), "3.23871556e-07");
  expect_printed(plain(1, 5e6, 128), "0.785829980");  // the wrong one, of 64 pairs
  EXPECT_EQ(loud(model), "");
  expect_says(model, "rotary-dim-dropped", "rotates 64 pairs instead of 32");
}

TEST(Case07, RotaryDimOfGptJAndOfAnUnknownFamily) {
  const ResolvedModel gptj =
      config("gptj", R"("n_embd": 4096, "n_head": 16, "n_layer": 28, "rotary_dim": 64)");
  EXPECT_EQ(only(gptj).head_dim, 256);
  EXPECT_EQ(only(gptj).n_pairs(), 32);
  expect_near(band(only(gptj), 31), plain(31, 1e4, 64));
  EXPECT_EQ(loud(gptj), "");
  const ResolvedModel unknown =
      config("nobody", R"("head_dim": 128, "num_hidden_layers": 1, "rotary_dim": 64)");
  EXPECT_EQ(only(unknown).n_pairs(), 32);
  EXPECT_EQ(loud(unknown),
            "warning rotary-dim-dropped rotary_dim '64', expected 'partial_rotary_factor 0.5'\n");
}

TEST(Case07, RotaryDimAgainstAFactorIsAnError) {
  const ResolvedModel model = config("minimax_m2", R"("head_dim": 128, "num_hidden_layers": 2,
      "rope_theta": 5000000, "rotary_dim": 64, "partial_rotary_factor": 0.25)");
  EXPECT_EQ(told(model, "rotary-dim-dropped"),
            "error rotary-dim-dropped rotary_dim '64', expected '32'\n");
}

TEST(Case07, DimensionCountOfItsGguf) {
  const ResolvedModel file = read(gguf("minimax-m2", 196608, 5e6F, 128, 2, 48)
                                      .u32("minimax-m2.attention.key_length", 128)
                                      .u32("minimax-m2.rope.dimension_count", 64));
  EXPECT_EQ(only(file).n_pairs(), 32);
  expect_printed(band(only(file), 1), "0.617528758");
  const ResolvedModel whole = config("minimax_m2", R"("head_dim": 128, "hidden_size": 6144,
      "num_attention_heads": 48, "num_key_value_heads": 8, "num_hidden_layers": 2,
      "max_position_embeddings": 196608, "rope_theta": 5000000)");
  expect_contains(messages(diff(whole, file), "diff-rotary-dim"), "128 in the config and 64");
}

// chrishayuk/larql#404
TEST(Case08, TheFactorInsideRopeParametersIsRead) {
  const ResolvedModel model = resolve_config(
      R"({"head_dim": 64, "num_hidden_layers": 1, "rope_parameters": {"rope_type": "default",
          "rope_theta": 1e4, "partial_rotary_factor": 0.25}})",
      "config.json");
  EXPECT_EQ(only(model).n_pairs(), 8);
  expect_near(band(only(model), 7), plain(7, 1e4, 16));
  EXPECT_EQ(loud(model), "");
}

TEST(Case08, TheNestedFactorWinsAndTheConflictIsReported) {
  const ResolvedModel model = config("glm4", R"("head_dim": 64, "num_hidden_layers": 1,
      "partial_rotary_factor": 0.5, "rope_parameters": {"rope_type": "default",
      "rope_theta": 10000.0, "partial_rotary_factor": 0.25})");
  EXPECT_EQ(only(model).n_pairs(), 8);
  EXPECT_EQ(loud(model),
            "error partial-factor-conflict rope_parameters.partial_rotary_factor '0.25', expected "
            "'0.5'\n");
  EXPECT_EQ(ignored(model, "partial_rotary_factor"),
            "shadowed by rope_parameters.partial_rotary_factor = 0.25");
}

TEST(Case08, TheSameFactorInBothPlacesIsSilent) {
  const ResolvedModel model = config("glm4", R"("head_dim": 128, "num_hidden_layers": 1,
      "partial_rotary_factor": 0.5, "rope_parameters": {"rope_type": "default",
      "rope_theta": 10000.0, "partial_rotary_factor": 0.5})");
  EXPECT_EQ(only(model).n_pairs(), 32);
  EXPECT_EQ(loud(model), "");
}

// The older name, and the block of a multimodal file. 25% of 64 and 50% of 128 channels.
TEST(Case08, NestedFactorOfNeoXAndOfAMultimodalFile) {
  const ResolvedModel neox = config("gpt_neox", R"("hidden_size": 1024, "num_attention_heads": 16,
      "num_hidden_layers": 24, "rotary_pct": 1.0, "rope_parameters": {"rope_type": "default",
      "rope_theta": 10000, "partial_rotary_factor": 0.25})");
  EXPECT_EQ(only(neox).n_pairs(), 8);
  EXPECT_EQ(told(neox, "partial-factor-conflict"),
            "error partial-factor-conflict rope_parameters.partial_rotary_factor '0.25', expected "
            "'1.0'\n");
  const ResolvedModel glm = config("glm4v_moe", R"("text_config": {"model_type": "glm4_moe",
      "head_dim": 128, "num_hidden_layers": 2, "rope_parameters": {"rope_type": "default",
      "rope_theta": 10000.0, "partial_rotary_factor": 0.5}})");
  EXPECT_EQ(only(glm).n_pairs(), 32);
  EXPECT_EQ(loud(glm), "");
}

// AI-Hypercomputer/maxtext#4616: 4 of 16 channels belong to pairs, so 4..15 stay as they are.
TEST(Case09, ChannelsBeyondTheFactorAreInNoPair) {
  for (const char* block : {R"("rope_type": "default")", R"("rope_type": "mrope",
      "mrope_section": [1, 1, 0])"}) {
    const ResolvedModel model = config("nobody", std::string(R"("head_dim": 16,
        "num_hidden_layers": 1, "rope_parameters": {"partial_rotary_factor": 0.25, )") +
                                                     block + "}");
    EXPECT_EQ(only(model).head_dim, 16);
    EXPECT_EQ(only(model).rotary_dim, 4) << block;
    EXPECT_EQ(only(model).plan.inv_freq.at(0).size(), 2U) << block;
    expect_near(band(only(model), 1), 0.01);  // 1e4^(-2/4)
  }
}

// A real multi-axis text model with the factor at the top: half of 128 channels, exponents over 64.
TEST(Case09, MultiAxisFamilyWithTheFactorAtTheTop) {
  const ResolvedModel model = config("glm4v", R"("text_config": {"model_type": "glm4v_text",
      "hidden_size": 4096, "num_attention_heads": 32, "num_hidden_layers": 2,
      "partial_rotary_factor": 0.5, "rope_theta": 10000.0, "rope_scaling": {"type": "default",
      "mrope_section": [8, 12, 12]}})");
  EXPECT_EQ(only(model).rotary_dim, 64);
  expect_near(band(only(model), 1), plain(1, 1e4, 64));
  EXPECT_EQ(loud(model), "");
}

TEST(Case09, DimensionCountOfAGguf) {
  const ResolvedModel model =
      read(gguf("qwen2vl", 32768, 1e4F, 16).u32("qwen2vl.rope.dimension_count", 4));
  EXPECT_EQ(only(model).rotary_dim, 4);
  expect_near(band(only(model), 1), 0.01);
}

// Proportional pairs span the whole head, so the still ones are zeros of the table instead.
TEST(Case09, ProportionalLeavesItsSlowPairs) {
  const ResolvedModel model = fixture("gemma-4");
  const LayerKind& full = kind(model, "full_attention");
  EXPECT_EQ(full.rotary_dim, 512);
  EXPECT_GT(band(full, 63), 0.0);
  for (size_t m = 64; m < 256; ++m) {
    EXPECT_EQ(band(full, m), 0.0) << m;
  }
}

// huggingface/candle#2358, transformers PR#32495
TEST(Case10, HeadDimOfMistralNemoIsNotHiddenOverHeads) {
  const ResolvedModel nemo = config("mistral", R"("hidden_size": 5120, "num_attention_heads": 32,
      "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 40, "rope_theta": 1000000.0,
      "max_position_embeddings": 131072, "sliding_window": null)");
  EXPECT_EQ(only(nemo).n_pairs(), 64);
  expect_printed(band(only(nemo), 1), "0.805842188");
  expect_printed(plain(1, 1e6, 160), "0.841395142");  // the wrong one, of 80 pairs
  EXPECT_EQ(loud(nemo), "");
  expect_says(nemo, "head-dim", "rotates 80 pairs instead of 64");
}

// The quotient is too small for Qwen3 0.6B, and Gemma's class has 256 without a key.
TEST(Case10, OtherFamiliesWithAHeadDimOfTheirOwn) {
  const ResolvedModel qwen = config("qwen3", R"("hidden_size": 1024, "num_attention_heads": 16,
      "num_key_value_heads": 8, "head_dim": 128, "num_hidden_layers": 28, "rope_theta": 1000000)");
  EXPECT_EQ(only(qwen).n_pairs(), 64);
  expect_says(qwen, "head-dim", "rotates 32 pairs instead of 64");
  const ResolvedModel gemma =
      config("gemma", R"("hidden_size": 3072, "num_attention_heads": 16, "num_hidden_layers": 2)");
  EXPECT_EQ(only(gemma).n_pairs(), 128);  // 3072 / 16 / 2 = 96
  expect_near(band(only(gemma), 1), plain(1, 1e4, 256));
  EXPECT_EQ(only(fixture("deepseek-v3")).n_pairs(), 32);  // 7168 / 128 / 2 = 28
  EXPECT_EQ(loud(qwen) + loud(gemma), "");
}

TEST(Case10, KeyLengthOfAGgufIsNotWidthOverHeads) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama")
      .u32("llama.block_count", 2)
      .u32("llama.embedding_length", 5120)
      .u32("llama.context_length", 131072)
      .u32("llama.attention.head_count", 32)
      .u32("llama.attention.head_count_kv", 8)
      .u32("llama.attention.key_length", 128)
      .f32("llama.rope.freq_base", 1e6F);
  const ResolvedModel model = read(builder);
  EXPECT_EQ(only(model).n_pairs(), 64);
  expect_printed(band(only(model), 1), "0.805842188");
}

TEST(Case10, AQuotientThatIsNoEvenWholeNumberIsAnError) {
  const ResolvedModel model = llama(R"("max_position_embeddings": 4096, "vocab_size": 1000)");
  EXPECT_EQ(told(model, "head-dim"), "");
  const ResolvedModel broken = config("llama", R"("hidden_size": 5000, "num_attention_heads": 32,
      "num_hidden_layers": 2)");
  EXPECT_EQ(told(broken, "head-dim"), "error head-dim head_dim 'nothing', expected 'a value'\n");
  expect_says(broken, "head-dim", "5000 / 32 = 156.25");
}

const std::string kLlama2 = R"("vocab_size": 32000, "rope_theta": 10000.0, )";

// JIA-Lab-research/LongLoRA#181
TEST(Case11, ALengthBeyondTheTrainedOneWithoutScalingIsFlagged) {
  const ResolvedModel bare = llama(kLlama2 + R"("max_position_embeddings": 8192)");
  EXPECT_EQ(loud(bare),
            "warning max-extended-without-scaling max_position_embeddings '8192', expected "
            "'4096'\n");
  expect_says(bare, "max-extended-without-scaling", R"({"rope_type": "linear", "factor": 2})");
  const ResolvedModel right = llama(kLlama2 + R"("max_position_embeddings": 8192,
      "rope_scaling": {"type": "linear", "factor": 2.0})");
  expect_printed(band(only(right), 1), "0.432982162");
  EXPECT_EQ(loud(right), "");
}

// Vicuna 16k (as published: the length stays 4096) and Qwen3, which has yarn for longer texts.
TEST(Case11, OtherFamiliesWithoutTheirBlock) {
  const ResolvedModel vicuna = llama(kLlama2 + R"("max_position_embeddings": 4096,
      "max_sequence_length": 16384, "rope_scaling": {"factor": 4.0, "type": "linear"})");
  expect_near(band(only(vicuna), 1), plain(1, 1e4, 128) / 4.0);
  EXPECT_EQ(loud(vicuna), "");
  const std::string qwen = R"("head_dim": 128, "hidden_size": 4096, "num_attention_heads": 32,
      "num_key_value_heads": 8, "num_hidden_layers": 36, "rope_theta": 1000000,
      "max_position_embeddings": )";
  EXPECT_EQ(loud(config("qwen3", qwen + "40960")), "");
  EXPECT_EQ(loud(config("qwen3", qwen + "131072")),
            "warning max-extended-without-scaling max_position_embeddings '131072', expected "
            "'40960'\n");
}

TEST(Case11, AGgufOfAnExtendedLlama2IsFlagged) {
  const GgufBuilder bare = gguf("llama", 16384).u32("llama.vocab_size", 32000);
  EXPECT_EQ(loud(read(bare)),
            "warning max-extended-without-scaling llama.context_length '16384', expected '4096'\n");
  GgufBuilder scaled = bare;
  scaled.text("llama.rope.scaling.type", "linear").f32("llama.rope.scaling.factor", 4.0F);
  EXPECT_EQ(loud(read(scaled)), "");
}

// Not of the kind: Code Llama was trained on 16384 with another base, Yi on 4096 with 5e6.
TEST(Case11, LongModelsOfOtherBasesAreSilent) {
  EXPECT_EQ(loud(llama(R"("vocab_size": 32016, "rope_theta": 1000000.0,
      "max_position_embeddings": 16384)")),
            "");
  EXPECT_EQ(loud(llama(R"("vocab_size": 64000, "rope_theta": 5000000.0,
      "max_position_embeddings": 32768)")),
            "");
}

ResolvedModel interleaved(ResolvedModel model, bool rotating_kinds) {
  for (LayerKind& one : model.kinds) {
    if (!one.plan.inv_freq.empty() == rotating_kinds) {
      one.layout = PairLayout::Interleaved;
    }
  }
  return model;
}

// mattn/tensai#57: layer 3 of SmolLM3 does not rotate, so no pairing can be wrong there.
TEST(Case23, AWrongPairingIsToldOfRotatingLayersAlone) {
  const ResolvedModel model = fixture("smollm3");
  EXPECT_TRUE(kind(model, "no_rotation").plan.inv_freq.empty());
  EXPECT_EQ(loud(diff(model, interleaved(model, false))), "");
  const std::vector<Finding> found = diff(model, interleaved(model, true));
  EXPECT_EQ(loud(found), "error diff-layout pair layout 'interleaved', expected 'halves'\n");
  expect_contains(messages(found, "diff-layout"), "layers 0, 1, 2, 4, ... (27)");
}

TEST(Case23, TheSameForCohereAndLlama4) {
  const ResolvedModel cohere = config("cohere2", R"("num_hidden_layers": 8, "rope_theta": 50000)");
  const ResolvedModel llama4 = config("llama4_text", R"("num_hidden_layers": 8)");
  for (const ResolvedModel* model : {&cohere, &llama4}) {
    ResolvedModel halves = *model;
    for (LayerKind& one : halves.kinds) {
      one.layout = PairLayout::Halves;
    }
    const std::vector<Finding> found = diff(*model, halves);
    EXPECT_EQ(loud(found), "error diff-layout pair layout 'halves', expected 'interleaved'\n");
    expect_contains(messages(found, "diff-layout"), "layers 0, 1, 2, 4, ... (6)");
  }
}

// llama.cpp permutes SmolLM3's rows: another layout, the same rotation.
TEST(Case23, SmolLm3AgreesWithItsPermutedGguf) {
  const ResolvedModel hf = config("smollm3", R"("hidden_size": 2048, "num_attention_heads": 16,
      "num_key_value_heads": 8, "num_hidden_layers": 8, "max_position_embeddings": 65536,
      "rope_theta": 5000000.0, "no_rope_layers": [1, 1, 1, 0, 1, 1, 1, 0])");
  const ResolvedModel file = read(gguf("smollm3", 65536, 5e6F, 128, 8, 16));
  EXPECT_EQ(kind(file, "no_rotation").layers, (Layers{3, 7}));
  EXPECT_EQ(loud(diff(hf, file)), "");
}

// pegainfer#820
TEST(Case25, ProportionalExponentsAreOverTheHead) {
  const ResolvedModel model = fixture("gemma-4");
  const LayerKind& full = kind(model, "full_attention");
  expect_printed(band(full, 1), "0.947463526");
  expect_printed(band(full, 63), "0.033376247");
  expect_printed(plain(1, 1e6, 128), "0.805842188");  // the wrong ones
  expect_printed(plain(63, 1e6, 128), "1.240938e-06");
  expect_says(model, "proportional-exponent", "f1 = 0.947463526");
  expect_says(model, "proportional-exponent", "128 dims gets 0.805842188");
  EXPECT_EQ(loud(model), "");
}

// Another share and head; an ordinary partial rotation divides by its own width.
TEST(Case25, ProportionalOfAnotherShareAgainstOrdinaryPartial) {
  const ResolvedModel half = config("gemma4_text", R"("num_hidden_layers": 6, "head_dim": 128,
      "global_head_dim": 256, "rope_parameters": {
      "full_attention": {"rope_type": "proportional", "partial_rotary_factor": 0.5,
        "rope_theta": 1000000.0},
      "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})");
  const LayerKind& full = kind(half, "full_attention");
  expect_near(band(full, 63), plain(63, 1e6, 256));
  EXPECT_EQ(band(full, 64), 0.0);
  expect_near(band(kind(half, "sliding_attention"), 63), plain(63, 1e4, 128));
  const ResolvedModel glm =
      config("glm4", R"("head_dim": 128, "num_hidden_layers": 2, "partial_rotary_factor": 0.5)");
  expect_near(band(only(glm), 31), plain(31, 1e4, 64));
  EXPECT_EQ(told(glm, "proportional-exponent"), "");
}

TEST(Case25, TheDivisorsOfItsGgufGiveTheSameTable) {
  std::vector<float> divisors(256, 1e30F);  // as the converter writes them: 64 pairs of 256 rotate
  std::fill_n(divisors.begin(), 64, 1.0F);
  const ResolvedModel file =
      read(gguf("gemma4", 131072, 1e6F, 512, 6, 8)
               .f32("gemma4.rope.freq_base_swa", 1e4F)
               .u32("gemma4.attention.key_length", 512)
               .u32("gemma4.attention.key_length_swa", 256)
               .u32("gemma4.attention.sliding_window", 512)
               .booleans("gemma4.attention.sliding_window_pattern", {1, 1, 1, 1, 1, 0})
               .floats("rope_freqs.weight", divisors));
  const LayerKind& full = kind(file, "full_attention");
  expect_printed(band(full, 1), "0.947463526");
  expect_printed(band(full, 63), "0.033376247");
  EXPECT_EQ(band(full, 64), 0.0);
  EXPECT_EQ(loud(file), "");
}

}  // namespace
}  // namespace gyre::inspect::cases
