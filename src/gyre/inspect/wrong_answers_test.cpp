// Families whose positions a reader of keys alone gets wrong: expected values follow the public
// modeling files named at each test, numbers by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "gyre/inspect/inspect.h"
#include "gyre/inspect/lint/rule.h"
#include "gyre/inspect/test_models.h"

namespace gyre::inspect {
namespace {

using testing::band;
using testing::from_text;
using testing::ignored_reason;
using testing::kind;
using testing::origin_of;

std::string with(const std::string& fields) {
  return "{\"hidden_size\": 2048, \"num_hidden_layers\": 4, \"num_attention_heads\": 32, " +
         fields + "}";
}

// modeling_exaone4.py: rotates when sliding_window is None or the layer is a sliding one.
TEST(WrongAnswers, Exaone4WithoutAWindowRotatesEveryLayer) {
  const std::string block =
      R"("model_type": "exaone4", "head_dim": 64, "rope_theta": 1000000,
         "max_position_embeddings": 65536, "rope_scaling": {"rope_type": "llama3", "factor": 16.0,
         "low_freq_factor": 1.0, "high_freq_factor": 4.0,
         "original_max_position_embeddings": 8192})";
  const auto small = from_text(with(block + R"(, "sliding_window": null)"));
  ASSERT_EQ(small.kinds.size(), 1u);
  EXPECT_EQ(small.kinds[0].scheme, "llama3");
  EXPECT_EQ(small.kinds[0].base, 1e6);
  EXPECT_EQ(small.kinds[0].layers.size(), 4u);
  const auto large = from_text(with(block + R"(, "sliding_window": 4096)"));
  EXPECT_EQ(kind(large, "sliding_attention").scheme, "llama3");
  EXPECT_EQ(kind(large, "no_rotation").layers, std::vector<int64_t>{3});
}

// 127 channels: transformers builds 64 frequencies for 63.5 pairs and stops in the first product.
TEST(WrongAnswers, OddHeadHasNoTableAndIsAnError) {
  const auto model = from_text(with(
      R"("model_type": "llama", "head_dim": 127, "rope_scaling": {"rope_type": "llama3",
         "factor": 8, "low_freq_factor": 1, "high_freq_factor": 4,
         "original_max_position_embeddings": 8192})"));
  EXPECT_EQ(model.kinds[0].scheme, "llama3");
  EXPECT_EQ(model.kinds[0].rotary_dim, 127);
  EXPECT_TRUE(bands_of(model.kinds[0]).empty());
  const auto findings = lint(model);
  EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [](const Finding& f) {
    return f.id == "rotary-dim-invalid" && f.severity == Severity::Error;
  }));
  EXPECT_NE(describe(model, findings).find("127 to rotate: an odd number forms no pairs"),
            std::string::npos);
}

TEST(WrongAnswers, ModelsWithoutRotationAreNotGivenABase) {
  const auto bert =
      from_text(with(R"("model_type": "bert", "position_embedding_type": "absolute")"));
  EXPECT_TRUE(bert.doubts.empty());
  EXPECT_EQ(bert.kinds[0].name, "learned_absolute");
  EXPECT_EQ(bert.kinds[0].base, 0.0);
  const auto vit = from_text(with(R"("model_type": "vit", "image_size": 224)"));
  EXPECT_EQ(vit.kinds[0].base, 0.0);
  EXPECT_NE(vit.kinds[0].length_rule.find("no key says that it rotates"), std::string::npos);
  const auto findings = lint(vit);
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].id, "position-encoding-unknown");
  EXPECT_EQ(findings[0].severity, Severity::Warning);
  EXPECT_NE(findings[0].message.find("'vit' is not known and no key says that it rotates"),
            std::string::npos);
  // A key for it is enough for a type nobody described.
  EXPECT_EQ(from_text(with(R"("model_type": "new", "rope_theta": 5e5)")).kinds[0].base, 5e5);
  const auto typed = from_text(
      with(R"("model_type": "new", "position_embedding_type": "alibi", "rope_theta": 5e5)"));
  EXPECT_EQ(typed.kinds[0].scheme, "alibi");
}

bool doubted(const std::string& keys) {
  const auto findings = lint(from_text(with(keys)));
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& f) { return f.id == "position-encoding-unknown"; });
}

TEST(WrongAnswers, EncodersOfUnknownTypeAreNotDoubted) {
  for (const char* keys :
       {R"("model_type": "megatron-bert", "type_vocab_size": 2)",
        R"("model_type": "new-bert", "architectures": ["NewBertForMaskedLM"])",
        R"("model_type": "vit", "image_size": 224, "patch_size": 16)",
        R"("model_type": "deberta-v2", "relative_attention": true, "pos_att_type": ["p2c"])",
        R"("model_type": "t5", "relative_attention_num_buckets": 32)",
        R"("model_type": "whisper", "max_source_positions": 1500, "max_target_positions": 448)",
        R"("model_type": "new-gpt2", "n_positions": 64, "n_ctx": 64, "n_embd": 256)"}) {
    EXPECT_FALSE(doubted(keys)) << keys;
  }
  for (const char* keys :
       {R"("model_type": "new", "n_positions": 64)", R"("model_type": "new", "image_size": 224)",
        R"("model_type": "new", "architectures": ["NewForCausalLM"])"}) {
    EXPECT_TRUE(doubted(keys)) << keys;
  }
  // A key of rotation beside them still wins.
  EXPECT_EQ(from_text(with(R"("model_type": "new", "type_vocab_size": 2, "rotary_emb_base": 1e3)"))
                .kinds[0]
                .base,
            1e3);
}

TEST(WrongAnswers, NamesOfGpt2MeanALearnedTable) {
  const auto model =
      from_text(with(R"("model_type": "new", "n_positions": 64, "n_ctx": 64, "n_embd": 256)"));
  EXPECT_EQ(model.kinds[0].name, "learned_absolute");
  EXPECT_EQ(origin_of(model, model.kinds[0], "position encoding"),
            "names of sizes as in GPT-2 and no key of rotation");
}

// llm-foundry's attention: rope_hf_config is read by the "hf" implementation alone.
TEST(WrongAnswers, MptScalesByItsOwnBlock) {
  const auto mpt = [](const std::string& impl, const std::string& block) {
    return from_text(R"({"model_type": "mpt", "d_model": 4096, "n_heads": 32, "n_layers": 2,
        "max_seq_len": 2048, "attn_config": {"alibi": false, "rope": true, "rope_theta": 10000,
        "rope_impl": ")" +
                     impl + R"(", "rope_hf_config": )" + block + "}}");
  };
  const auto linear = mpt("hf", R"({"type": "linear", "factor": 4.0})");
  EXPECT_EQ(linear.kinds[0].scheme, "linear");
  EXPECT_EQ(linear.kinds[0].factor, 4.0);
  EXPECT_EQ(bands_of(linear.kinds[0])[0], 0.25);
  EXPECT_EQ(testing::origin_of(linear, linear.kinds[0], "factor"),
            "attn_config.rope_hf_config.factor");
  // By hand: the base past 2048 tokens grows by (2 L / 2048 - 1)^(128/126), L = 4096 here.
  const auto dynamic = mpt("hf", R"({"type": "dynamic", "factor": 2.0})");
  EXPECT_EQ(dynamic.kinds[0].scheme, "dynamic");
  EXPECT_EQ(bands_of(dynamic.kinds[0])[1], std::pow(1e4, -2.0 / 128));
  testing::expect_close(dynamic.kinds[0].long_inv_freq.at(63),
                        std::pow(1e4 * std::pow(3.0, 128.0 / 126), -126.0 / 128));
  const auto plain = mpt("hf", R"({"type": "no_scaling", "factor": 1.0})");
  EXPECT_EQ(plain.kinds[0].scheme, "rope");
  const auto other = mpt("dail", R"({"type": "linear", "factor": 4.0})");
  EXPECT_EQ(other.kinds[0].factor, 1.0);
  EXPECT_EQ(testing::ignored_reason(other, "attn_config.rope_hf_config"),
            "read when attn_config.rope_impl is hf, found dail");
}

// 70,000 keys of quantization, as configs of quantized experts have; it took a minute once.
TEST(WrongAnswers, ManyKeysAreReadInLinearTime) {
  std::string block;
  for (int i = 0; i < 40000; ++i) {
    block += str(i == 0 ? "" : ",", "\"model.layers.", i, ".w\": {\"algo\": \"FP4\"}");
  }
  const auto model = from_text(with(R"("model_type": "llama", "rope_theta": 5e5,
      "quantization_config": {"quantized_layers": {)" +
                                    block + "}}"));
  EXPECT_EQ(model.kinds[0].base, 5e5);
  EXPECT_TRUE(model.ignored.empty());
}

// Baichuan-13B's remote code has ALiBi, the 7B's rotates; model_type and keys are the same.
TEST(WrongAnswers, BaichuanRotatesByWidth) {
  const char* keys = R"({"model_type": "baichuan", "num_attention_heads": 40,
                         "model_max_length": 4096, "hidden_size": )";
  const auto large = from_text(std::string(keys) + "5120}");
  EXPECT_EQ(large.kinds[0].scheme, "alibi");
  EXPECT_EQ(large.kinds[0].plan.slopes.size(), 40u);
  EXPECT_EQ(from_text(std::string(keys) + "4096, \"num_attention_heads\": 32}").kinds[0].base, 1e4);
}

// modeling_granitemoehybrid.py: rotary_emb only with position_embedding_type "rope".
TEST(WrongAnswers, GraniteHybridHasNoPositionsAndItsMambaLayersNoAttention) {
  const std::string keys = R"("model_type": "granitemoehybrid", "rope_theta": 10000,
      "layer_types": ["mamba", "mamba", "attention", "mamba"], "position_embedding_type": )";
  const auto nope = from_text(with(keys + "\"nope\""));
  for (const LayerKind& one : nope.kinds) {
    EXPECT_EQ(one.base, 0.0) << one.name;
    EXPECT_EQ(one.scheme, "nope");
  }
  const auto rope = from_text(with(keys + "\"rope\""));
  EXPECT_EQ(kind(rope, "mamba").base, 0.0);
  EXPECT_EQ(kind(rope, "full_attention").base, 1e4);
  EXPECT_EQ(kind(rope, "full_attention").layers, std::vector<int64_t>{2});
}

TEST(WrongAnswers, Gemma3nAndModernBertHaveTwoBases) {
  const auto gemma = from_text(
      with(R"("model_type": "gemma3n_text", "rope_theta": 1e6, "rope_local_base_freq": 10000.0,
              "sliding_window": 512, "num_hidden_layers": 5)"));
  EXPECT_EQ(kind(gemma, "sliding_attention").base, 1e4);
  EXPECT_EQ(kind(gemma, "full_attention").base, 1e6);
  // Layers 0, 3, ... are global; local_attention counts both sides: 64 before, itself, 64 after.
  const auto bert = from_text(
      R"({"model_type": "modernbert", "num_hidden_layers": 6, "global_rope_theta": 160000.0,
          "local_rope_theta": 10000.0, "local_attention": 128, "global_attn_every_n_layers": 3})");
  EXPECT_EQ(kind(bert, "full_attention").layers, (std::vector<int64_t>{0, 3}));
  EXPECT_EQ(kind(bert, "full_attention").base, 160000.0);
  EXPECT_EQ(kind(bert, "sliding_attention").base, 1e4);
  EXPECT_EQ(kind(bert, "sliding_attention").plan.mask.window, 65);
  // The same keys in a type nobody described.
  const auto other =
      from_text(with(R"("model_type": "new", "rope_theta": 1e6, "rope_local_base_freq": 10000.0,
              "sliding_window": 512, "layer_types": ["sliding_attention", "full_attention",
              "sliding_attention", "full_attention"])"));
  EXPECT_EQ(kind(other, "sliding_attention").base, 1e4);
}

TEST(WrongAnswers, StableLmEpochRotatesAQuarter) {
  for (const char* type : {"stablelm_epoch", "new"}) {
    const auto model = from_text(with(std::string("\"model_type\": \"") + type +
                                      R"(", "rope_pct": 0.25, "rope_theta": 10000)"));
    EXPECT_EQ(model.kinds[0].rotary_dim, 16) << type;  // of 64
  }
}

// modeling_hunyuan_v1_moe.py: base * alpha^(d/(d-2)); 10000 * 1000^(128/126) = 11158839.9...
TEST(WrongAnswers, HunyuanAlphaIsAStaticBase) {
  const auto model =
      from_text(with(R"("model_type": "hunyuan_v1_moe", "head_dim": 128, "rope_theta": 10000.0,
              "rope_scaling": {"type": "dynamic", "alpha": 1000.0, "factor": 1.0})"));
  EXPECT_NEAR(model.kinds[0].base, 1e4 * std::pow(1000.0, 128.0 / 126.0), 1e-3);
  EXPECT_NEAR(band(model.kinds[0], 1), std::pow(1e4 * std::pow(1000.0, 128.0 / 126.0), -1.0 / 64.0),
              1e-12);
  EXPECT_EQ(ignored_reason(model, "rope_scaling.alpha"), "");
  EXPECT_TRUE(model.kinds[0].length_rule.empty());
}

TEST(WrongAnswers, KeysOfSingleReadersAreNotCalledUnread) {
  const auto model =
      from_text(with(R"("model_type": "new", "dual_chunk_attention_config": {"chunk_size": 262144},
              "rope_parameters": {"rope_type": "yarn", "factor": 16.0, "rope_theta": 1e6,
              "original_max_position_embeddings": 16384, "llama_4_scaling_beta": 0.1,
              "mrope_interleaved": true})"));
  EXPECT_EQ(ignored_reason(model, "rope_parameters.llama_4_scaling_beta"),
            "queries at position i are multiplied by 1 + 0.1 ln(1 + floor(i / original length)); "
            "the rotation does not change");
  EXPECT_NE(ignored_reason(model, "rope_parameters.mrope_interleaved").find("axes of images"),
            std::string::npos);
  EXPECT_NE(ignored_reason(model, "dual_chunk_attention_config").find("vLLM"), std::string::npos);
}

// modeling_falcon.py: num_kv_heads when new_decoder_architecture or not multi_query, else 1.
TEST(WrongAnswers, MultiQueryHasOneKeyValueHead) {
  const auto heads = [](const std::string& text) {
    return from_text(with(text)).kinds[0].n_kv_heads;
  };
  EXPECT_EQ(heads(R"("model_type": "falcon", "multi_query": true)"), 1);
  EXPECT_EQ(heads(R"("model_type": "falcon", "multi_query": false)"), 32);
  EXPECT_EQ(heads(R"("model_type": "falcon", "num_kv_heads": 8)"), 1);
  EXPECT_EQ(heads(R"("model_type": "falcon", "num_kv_heads": 8, "multi_query": true,
                     "new_decoder_architecture": true)"),
            8);
  EXPECT_EQ(heads(R"("model_type": "gpt_bigcode", "multi_query": true)"), 1);
  EXPECT_EQ(heads(R"("model_type": "gpt_bigcode", "multi_query": false)"), 32);
  const auto model = from_text(with(R"("model_type": "falcon", "multi_query": true)"));
  EXPECT_EQ(origin_of(model, model.kinds[0], "key/value heads"), "multi_query");
}

// modeling_llama.py multiplies the whole head by cos, which has 2 * 32 channels here.
TEST(WrongAnswers, PartialFactorOfAnExtendedLlamaStops) {
  const auto model = from_text(with(
      R"("model_type": "llama", "head_dim": 128, "partial_rotary_factor": 0.5,
         "rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 1,
         "high_freq_factor": 4, "original_max_position_embeddings": 8192})"));
  ASSERT_EQ(model.doubts.size(), 1u);
  EXPECT_EQ(model.doubts[0].message,
            "LlamaConfig makes 32 pairs by it for rope type 'llama3' and applies them to a head of "
            "64 pairs: its forward stops; delete the key or use a class that splits the head");
}

TEST(WrongAnswers, WavelengthsBeyondEveryNumberAreSaid) {
  const auto model = from_text(
      with(R"("model_type": "llama", "rope_scaling": {"rope_type": "linear", "factor": 1e308})"));
  EXPECT_NE(describe(model, {}).find("none is a finite number of tokens"), std::string::npos);
}

TEST(WrongAnswers, MptMayRotate) {
  const auto model =
      from_text(with(R"("model_type": "mpt", "attn_config": {"alibi": false, "rope": true,
              "rope_theta": 500000, "rope_impl": "hf"})"));
  EXPECT_EQ(model.kinds[0].scheme, "rope");
  EXPECT_EQ(model.kinds[0].base, 500000.0);
  EXPECT_EQ(origin_of(model, model.kinds[0], "rotation"), "attn_config.rope");
  EXPECT_NE(ignored_reason(model, "attn_config.rope_impl"), "");
}

}  // namespace
}  // namespace gyre::inspect
