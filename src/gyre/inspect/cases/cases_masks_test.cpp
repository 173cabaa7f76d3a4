// Field cases 31, 32 and 36: what a window's number counts, which layers do not rotate. Neighbours
// as in cases_factors_test.cpp.
#include "gyre/inspect/cases/cases_testing.h"

namespace gyre::inspect::cases {
namespace {

Layers seen_by(int64_t query, const LayerKind& kind) {
  Layers keys;
  for (int64_t j = 0; j < query + 4; ++j) {
    if (kind.plan.mask.sees(query, j)) {
      keys.push_back(j);
    }
  }
  return keys;
}

// transformers#39408, #29623, vllm#3385
TEST(Case31, AWindowOf4CountsTheQuery) {
  const ResolvedModel model = config("mistral", R"("num_hidden_layers": 1, "sliding_window": 4)");
  EXPECT_EQ(seen_by(10, only(model)), (Layers{7, 8, 9, 10}));
  expect_contains(describe(model, {}),
                  "4 keys per query, its own included (flash attention: left = 3)");
  expect_says(model, "window-convention", "query 10 sees 7 to 10");
  expect_says(model, "window-convention", "a left window of 3 (4 would show 5 keys)");
  EXPECT_EQ(loud(model), "");
}

// Families with windows in some layers alone, from a config and from a GGUF.
TEST(Case31, LocalLayersOfOtherFamilies) {
  const ResolvedModel gemma = config("gemma2", R"("num_hidden_layers": 4, "sliding_window": 4)");
  const ResolvedModel oss = config("gpt_oss", R"("num_hidden_layers": 4, "sliding_window": 4)");
  const ResolvedModel file = read(gguf("gemma2", 8192).u32("gemma2.attention.sliding_window", 4));
  for (const ResolvedModel* model : {&gemma, &oss, &file}) {
    EXPECT_EQ(seen_by(10, kind(*model, "sliding_attention")), (Layers{7, 8, 9, 10}));
    EXPECT_EQ(seen_by(10, kind(*model, "full_attention")).size(), 11U);
    expect_contains(kind(*model, "sliding_attention").window_convention, "left = 3");
  }
}

// A converter that wrote flash attention's left window.
TEST(Case31, DiffTellsAWindowThatIsOneOff) {
  const ResolvedModel hf = config("gemma2", R"("hidden_size": 4096, "head_dim": 128,
      "num_attention_heads": 32, "num_key_value_heads": 8, "num_hidden_layers": 4,
      "max_position_embeddings": 8192, "sliding_window": 4096)");
  const auto file = [](uint32_t window) {
    return read(gguf("gemma2", 8192).u32("gemma2.attention.sliding_window", window));
  };
  EXPECT_EQ(loud(diff(hf, file(4096))), "");
  const std::vector<Finding> found = diff(hf, file(4095));
  EXPECT_EQ(loud(found), "error diff-window window '4095', expected '4096'\n");
  expect_contains(messages(found, "diff-window"), "does not count the query itself");
}

// Chunks are no windows: query 10 with chunks of 4 sees 8, 9 and itself.
TEST(Case31, ChunksOfLlama4) {
  const ResolvedModel model =
      config("llama4_text", R"("num_hidden_layers": 4, "attention_chunk_size": 4)");
  EXPECT_EQ(seen_by(10, kind(model, "chunked_attention")), (Layers{8, 9, 10}));
  EXPECT_EQ(seen_by(11, kind(model, "chunked_attention")), (Layers{8, 9, 10, 11}));
}

// bomri/SlowFast#5
TEST(Case32, LongformersNumberCountsBothSides) {
  const ResolvedModel model =
      config("longformer", R"("num_hidden_layers": 1, "attention_window": [18])");
  expect_contains(describe(model, {}),
                  "18 counts both sides together: 9 before, itself, 9 after = 19 keys");
  expect_says(model, "window-convention", "9 keys each side, 19 with the query");
  expect_says(model, "window-convention", "one side, 37 keys");
  EXPECT_EQ(seen_by(20, model.kinds.at(0)).front(), 11);  // 20 - 9
  EXPECT_EQ(loud(model), "");
}

// The class default, one number for all layers, and one number per layer.
TEST(Case32, ADefaultANumberAndAListPerLayer) {
  const ResolvedModel standard = config("longformer", "\"num_hidden_layers\": 2");
  EXPECT_EQ(standard.kinds.at(0).plan.mask.window, 257);  // 256 before and itself
  const ResolvedModel number =
      config("longformer", R"("num_hidden_layers": 2, "attention_window": 64)");
  EXPECT_EQ(number.kinds.at(0).plan.mask.window, 33);
  const ResolvedModel list =
      config("longformer", R"("num_hidden_layers": 3, "attention_window": [18, 32, 18])");
  ASSERT_EQ(list.kinds.size(), 2U);
  EXPECT_EQ(list.kinds[0].layers, (Layers{0, 2}));
  EXPECT_EQ(list.kinds[0].plan.mask.window, 10);
  EXPECT_EQ(list.kinds[1].layers, (Layers{1}));
  EXPECT_EQ(list.kinds[1].plan.mask.window, 17);
  EXPECT_NE(list.kinds[0].name, list.kinds[1].name);
}

TEST(Case32, AListOfAnotherLengthOrOfEndlessKindsIsRefused) {
  const auto fault_of = [](int64_t layers, const std::string& windows) -> std::string {
    try {
      config("longformer", "\"num_hidden_layers\": " + std::to_string(layers) +
                               ", \"attention_window\": [" + windows + "]");
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::Format);
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(fault_of(3, "18, 32"),
            "config.json: attention_window has 2 entries, the model has 3 layers");
  std::string many = "2";
  for (int64_t i = 2; i <= 2000; ++i) {
    many += ", " + std::to_string(2 * i);
  }
  EXPECT_EQ(fault_of(2000, many),
            "config.json: more than 1000 kinds of layers by attention_window and layer_types");
}

// Embedding models made of Gemma 3 halve the window: 512 / 2 + 1 on each side.
TEST(Case32, ABidirectionalGemmaHalvesItsWindow) {
  const std::string keys = R"("num_hidden_layers": 6, "sliding_window": 512)";
  const ResolvedModel both =
      config("gemma3_text", keys + ", \"use_bidirectional_attention\": true");
  EXPECT_EQ(kind(both, "sliding_attention").plan.mask.window, 257);
  expect_contains(kind(both, "sliding_attention").window_convention, "halved to 257 per side");
  EXPECT_EQ(kind(config("gemma3_text", keys), "sliding_attention").plan.mask.window, 512);
}

const Layers kEvery4th = {3, 7, 11, 15, 19, 23, 27, 31, 35};

std::string list_of(int64_t n, int64_t every, bool inverted) {
  std::string out;
  for (int64_t i = 0; i < n; ++i) {
    out += std::string(i == 0 ? "" : ", ") + (((i + 1) % every == 0) == inverted ? "1" : "0");
  }
  return "\"no_rope_layers\": [" + out + "]";
}

// transformers#43756, smollm#130, PR#37344
TEST(Case36, OneInTheListMeansRotation) {
  const std::string keys = R"("num_hidden_layers": 36, "no_rope_layer_interval": 4, )";
  const ResolvedModel model = config("smollm3", keys + list_of(36, 4, false));
  EXPECT_EQ(kind(model, "no_rotation").layers, kEvery4th);
  EXPECT_TRUE(kind(model, "no_rotation").plan.inv_freq.empty());
  EXPECT_EQ(kind(model, "full_attention").layers.size(), 27U);
  EXPECT_EQ(loud(model), "");
  const ResolvedModel inverted = config("smollm3", keys + list_of(36, 4, true));
  EXPECT_EQ(kind(inverted, "full_attention").layers, kEvery4th);  // the file is believed
  EXPECT_EQ(loud(inverted),
            "error nope-list no_rope_layers '9 rotating layers', expected '27 rotating layers'\n");
}

TEST(Case36, TheIntervalAlone) {
  const ResolvedModel by_class = config("smollm3", "\"num_hidden_layers\": 36");
  EXPECT_EQ(kind(by_class, "no_rotation").layers, kEvery4th);
  const ResolvedModel empty = config("smollm3", R"("num_hidden_layers": 36, "no_rope_layers": [])");
  EXPECT_EQ(kind(empty, "no_rotation").layers, kEvery4th);
  const ResolvedModel thirds =
      config("smollm3", R"("num_hidden_layers": 9, "no_rope_layer_interval": 3)");
  EXPECT_EQ(kind(thirds, "no_rotation").layers, (Layers{2, 5, 8}));
}

TEST(Case36, Llama4HasTheSameListInsideItsTextPart) {
  const auto llama4 = [](const std::string& list) {
    return config("llama4", R"("text_config": {"model_type": "llama4_text",
        "num_hidden_layers": 48, "rope_theta": 500000.0, )" +
                                list + "}");
  };
  const ResolvedModel model = llama4(list_of(48, 4, false));
  EXPECT_EQ(kind(model, "no_rotation").layers,
            (Layers{3, 7, 11, 15, 19, 23, 27, 31, 35, 39, 43, 47}));
  EXPECT_EQ(kind(model, "no_rotation").plan.query_growth, 0.1);
  EXPECT_EQ(loud(model), "");
  EXPECT_EQ(loud(llama4(list_of(48, 4, true))),
            "error nope-list text_config.no_rope_layers '12 rotating layers', expected '36 "
            "rotating layers'\n");
}

// No list at all: Command R7B and Exaone 4 do not rotate in their full layers; and in GGUF files.
TEST(Case36, FamiliesWithoutAList) {
  for (const char* family : {"cohere2", "exaone4"}) {
    const ResolvedModel model = config(family, "\"num_hidden_layers\": 36");
    EXPECT_EQ(kind(model, "no_rotation").layers, kEvery4th) << family;
  }
  const ResolvedModel file = read(gguf("smollm3", 65536, 5e6F, 128, 36, 16));
  EXPECT_EQ(kind(file, "no_rotation").layers, kEvery4th);
}

}  // namespace
}  // namespace gyre::inspect::cases
