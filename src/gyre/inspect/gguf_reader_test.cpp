// Which keys of a GGUF give which sizes, layer kinds, windows and biases, and which numbers are
// refused. Extension is in gguf_scaling_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "gyre/inspect/gguf_architectures.h"
#include "gyre/inspect/gguf_reader_testing.h"

namespace gyre::inspect {
namespace {

using position::PairLayout;
using tensor::GgufBuilder;

TEST(GgufReader, PlainLlama) {
  const ResolvedModel model = resolved(model_of("llama").f32("llama.rope.freq_base", 500000.0F));
  EXPECT_EQ(model.model_type, "llama");
  EXPECT_TRUE(model.known_type);
  EXPECT_EQ(model.reader, "llama.cpp, GGUF version 3");
  EXPECT_EQ(model.n_layers, 4);
  EXPECT_EQ(model.hidden, 1024);
  EXPECT_EQ(model.max_length, 131072);
  EXPECT_EQ(model.original_length, 131072);
  ASSERT_EQ(model.kinds.size(), 1U);
  const LayerKind& kind = model.kinds[0];
  EXPECT_EQ(kind.name, "all");
  EXPECT_EQ(kind.layers, (std::vector<int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(kind.scheme, "rope");
  EXPECT_EQ(kind.layout, PairLayout::Interleaved);  // the converter permutes
  EXPECT_EQ(kind.n_heads, 8);
  EXPECT_EQ(kind.n_kv_heads, 2);
  EXPECT_EQ(kind.head_dim, 128);
  expect_table(kind, "llama-3-8b");
  expect_rebuilt(kind);
  EXPECT_EQ(origin(kind.origins, "base")->origin.where, "llama.rope.freq_base");
  EXPECT_EQ(origin(kind.origins, "head dim")->origin.kind, OriginKind::Derived);
  EXPECT_TRUE(model.ignored.empty());
  EXPECT_TRUE(model.raw.find("llama.rope.freq_base")->used);
}

TEST(GgufReader, PartialRotationInHalves) {
  const ResolvedModel model = resolved(model_of("phi2", 80).u32("phi2.rope.dimension_count", 32));
  const LayerKind& kind = model.kinds.at(0);
  EXPECT_EQ(kind.layout, PairLayout::Halves);
  EXPECT_EQ(kind.rotary_dim, 32);
  EXPECT_EQ(kind.scheme, "partial");
  expect_table(kind, "phi-2");
  expect_rebuilt(kind);
  EXPECT_EQ(origin(kind.origins, "base")->origin.kind, OriginKind::ClassDefault);
}

// huggingface/transformers#43756: of every four layers the fourth does not rotate.
TEST(GgufReader, LayersWithoutRotation) {
  const ResolvedModel model = resolved(model_of("smollm3", 128, 36));
  ASSERT_EQ(model.kinds.size(), 2U);
  EXPECT_EQ(model.kinds[1].name, "no_rotation");
  EXPECT_EQ(model.kinds[1].layers, (std::vector<int64_t>{3, 7, 11, 15, 19, 23, 27, 31, 35}));
  EXPECT_EQ(model.kinds[1].scheme, "nope");
  EXPECT_TRUE(model.kinds[1].plan.inv_freq.empty());

  const ResolvedModel llama4 = resolved(model_of("llama4", 128, 8));
  ASSERT_EQ(llama4.kinds.size(), 2U);
  EXPECT_EQ(llama4.kinds[0].name, "chunked_attention");
  EXPECT_EQ(llama4.kinds[0].plan.mask.chunk, 8192);
  EXPECT_EQ(llama4.kinds[1].layers, (std::vector<int64_t>{3, 7}));
  EXPECT_EQ(llama4.kinds[1].plan.query_growth, 0.1);

  const ResolvedModel cohere =
      resolved(model_of("cohere2").u32("cohere2.attention.sliding_window", 4096));
  EXPECT_EQ(cohere.kinds.at(0).name, "sliding_attention");
  EXPECT_EQ(cohere.kinds.at(1).name, "no_rotation");
}

TEST(GgufReader, Alibi) {
  const ResolvedModel bloom = resolved(model_of("bloom"));
  EXPECT_EQ(bloom.kinds.at(0).scheme, "alibi");
  // paiml/aprender#2143: 8 heads, .5 down to .00390625.
  EXPECT_EQ(bloom.kinds.at(0).plan.slopes,
            (std::vector<double>{.5, .25, .125, .0625, .03125, .015625, .0078125, .00390625}));
  GgufBuilder mpt;
  mpt.text("general.architecture", "mpt")
      .u32("mpt.block_count", 2)
      .u32("mpt.embedding_length", 768)
      .u32("mpt.attention.head_count", 12)
      .f32("mpt.attention.max_alibi_bias", 8.0F);
  const ResolvedModel model = resolved(mpt);
  const auto plan = position::make_plan("alibi", "full", {.n_heads = 12, .n_kv_heads = 12});
  for (size_t h = 0; h < 12; ++h) {
    EXPECT_NEAR(model.kinds.at(0).plan.slopes.at(h), plan.layers[0].slopes.at(h), 1e-15);
  }
  EXPECT_EQ(origin(model.kinds[0].origins, "slopes")->origin.where, "mpt.attention.max_alibi_bias");
}

TEST(GgufReader, HeadsThatDifferByLayer) {
  GgufBuilder builder;
  builder.text("general.architecture", "openelm")
      .u32("openelm.block_count", 3)
      .u32("openelm.attention.key_length", 64)
      .u32s("openelm.attention.head_count", {12, 16, 12})
      .u32s("openelm.attention.head_count_kv", {3, 4, 3});
  const ResolvedModel model = resolved(builder);
  ASSERT_EQ(model.kinds.size(), 2U);
  EXPECT_EQ(model.kinds[0].name, "full_attention, 12/3 heads");
  EXPECT_EQ(model.kinds[0].layers, (std::vector<int64_t>{0, 2}));
  EXPECT_EQ(model.kinds[1].n_heads, 16);

  const ResolvedModel hybrid = resolved(GgufBuilder()
                                            .text("general.architecture", "lfm2")
                                            .u32("lfm2.block_count", 3)
                                            .u32("lfm2.embedding_length", 1024)
                                            .u32("lfm2.attention.head_count", 16)
                                            .u32s("lfm2.attention.head_count_kv", {0, 0, 4}));
  EXPECT_EQ(hybrid.kinds.at(0).layers, std::vector<int64_t>{2});
  EXPECT_EQ(origin(hybrid.origins, "layers without attention")->value, "2");
}

TEST(GgufReader, StatesWhatItAssumes) {
  const ResolvedModel unknown = resolved(model_of("brandnew"));
  EXPECT_FALSE(unknown.known_type);
  EXPECT_EQ(origin(unknown.origins, "layout")->origin.kind, OriginKind::Assumed);
  const ResolvedModel typo = resolved(model_of("llama")
                                          .text("llama.rope.scaling.type", "yarm")
                                          .f32("llama.rope.scaling.factor", 4.0F));
  EXPECT_EQ(typo.kinds.at(0).rope_type, "yarm");
  expect_table(typo.kinds[0], "llama-2-7b");
  EXPECT_NE(origin(typo.origins, "rope type")->origin.where.find("llama.cpp refuses it"),
            std::string::npos);
  const ResolvedModel foreign = resolved(model_of("qwen2").f32("llama.rope.freq_base", 1e6F));
  EXPECT_EQ(foreign.ignored.at(0).key, "llama.rope.freq_base");
  EXPECT_EQ(foreign.ignored.at(0).reason, "a qwen2 file is read under qwen2.");
}

TEST(GgufReader, RefusesNumbersNoModelHas) {
  EXPECT_EQ(message(GgufBuilder().u32("a", 1)),
            "m.gguf: no general.architecture, so this is no model's GGUF");
  EXPECT_EQ(message(GgufBuilder().text("general.architecture", "a\nb")),
            "m.gguf: general.architecture 'a\\x0ab' is no name");
  EXPECT_EQ(message(model_of("llama").text("general.type", "adapter")),
            "m.gguf: holds a 'adapter', not a language model; give the model's own GGUF");
  EXPECT_EQ(message(GgufBuilder().text("general.architecture", "llama")),
            "m.gguf: neither llama.block_count nor a tensor of layer 0 is there, so the number of "
            "layers is unknown");
  EXPECT_EQ(message(model_of("llama", 128, 4097)),
            "m.gguf: llama.block_count is 4097, expected a whole number from 1 to 4096");
  EXPECT_EQ(message(model_of("llama").f32("llama.rope.freq_base", NAN)),
            "m.gguf: llama.rope.freq_base is nan, expected a number from 1.000001 to 1e+15");
  EXPECT_EQ(message(model_of("llama").f32("llama.rope.scaling.factor", -1.0F)),
            "m.gguf: llama.rope.scaling.factor is -1, expected a number from 0 to 1e+06");
  EXPECT_EQ(message(model_of("llama").u32("llama.rope.dimension_count", 130)),
            "m.gguf: llama.rope.dimension_count is 130, expected an even number of at most the "
            "head dim 128");
  EXPECT_EQ(message(model_of("llama").u32("llama.rope.dimension_count", 63)),
            "m.gguf: llama.rope.dimension_count is 63, expected an even number of at most the "
            "head dim 128");
  EXPECT_EQ(message(model_of("llama").text("llama.rope.freq_base", "10000")),
            "m.gguf: key llama.rope.freq_base is a text, expected a number");
  EXPECT_EQ(message(GgufBuilder()
                        .text("general.architecture", "llama")
                        .u32("llama.block_count", 2)
                        .u32("llama.attention.key_length", 64)
                        .u32s("llama.attention.head_count", {8})),
            "m.gguf: llama.attention.head_count is a list of 1, expected 2 numbers, one per layer");
  EXPECT_EQ(message(GgufBuilder()
                        .text("general.architecture", "llama")
                        .u32("llama.block_count", 2)
                        .u32("llama.attention.head_count", 8)),
            "m.gguf: llama.attention.key_length is missing and embedding_length 0 over 8 heads "
            "gives no head dim");
  // Found by fuzzing: a table of a million pairs out of 500 bytes.
  EXPECT_EQ(message(model_of("llama", 8200)),
            "m.gguf: llama.embedding_length 65600 over 8 heads is a head dim beyond 8192");
  GgufBuilder yarn;
  yarn.text("general.architecture", "llama")
      .u32("llama.block_count", 2)
      .u32("llama.attention.key_length", 64)
      .u32("llama.attention.head_count", 8)
      .text("llama.rope.scaling.type", "yarn");
  EXPECT_EQ(message(yarn),
            "m.gguf: llama.rope.scaling.type is yarn, which needs "
            "rope.scaling.original_context_length or context_length");
}

TEST(GgufReader, ArchitecturesAreSorted) {
  for (const char* name :
       {"afmoe", "bloom", "exaone-moe", "exaone4", "gpt-oss", "llama", "qwen3", "xverse"}) {
    ASSERT_NE(find_gguf_architecture(name), nullptr) << name;
    EXPECT_EQ(find_gguf_architecture(name)->name, name);
  }
  EXPECT_EQ(find_gguf_architecture("llama5"), nullptr);
}

TEST(GgufReader, NoHeadsAtAllIsABrokenFile) {
  GgufBuilder builder;
  builder.text("general.architecture", "llama")
      .u32("llama.block_count", 2)
      .u32("llama.embedding_length", 256)
      .u32("llama.attention.head_count", 0);
  EXPECT_EQ(message(builder),
            "m.gguf: llama.attention.head_count is 0 in every layer, expected 1 or more");
}

}  // namespace
}  // namespace gyre::inspect
