// Files whose keys state what their tensors, their other keys or their family do not bear out.
#include "gyre/model/load/check_stated.h"

#include "gyre/model/load/tiny_gguf_testing.h"

namespace gyre::model {
namespace {

class StatedInGguf : public LoadTest {
 protected:
  std::string fault(const TinyGguf& gguf) const {
    write_file_atomic(folder_ / "m.gguf", gguf.bytes());
    return message_of([&] { load_model(folder_ / "m.gguf"); });
  }
  /// A key of the tiny Llama, by its name in config.json, with another value.
  std::string fault(const char* key, int64_t value) const {
    Json tiny = tiny_case("llama");
    const TinyGguf right(tiny, "llama");
    tiny["config"][key] = value;
    TinyGguf wrong(tiny, "llama");
    wrong.tensors = right.tensors;
    return fault(wrong);
  }
  std::string fault_with(const std::string& key, uint32_t value) const {
    TinyGguf gguf(tiny_case("llama"), "llama");
    gguf.builder.u32("llama." + key, value);
    return fault(gguf);
  }
};

TEST_F(StatedInGguf, SizesReadOffTheTensorsMustBeThoseOfTheKeys) {
  EXPECT_EQ(fault("intermediate_size", 56), "no error");
  EXPECT_EQ(fault("intermediate_size", 57),
            "DIR/m.gguf: llama.feed_forward_length is 57, tensor blk.0.ffn_down.weight has 56 "
            "columns");
  EXPECT_EQ(fault_with("vocab_size", 96), "no error");
  EXPECT_EQ(fault_with("vocab_size", 95),
            "DIR/m.gguf: llama.vocab_size is 95, the embedding has 96 rows");
}

TEST_F(StatedInGguf, TheHiddenSizeMayBeGivenPerLayer) {
  Json tiny = tiny_case("llama");
  tiny["config"].erase("intermediate_size");
  TinyGguf gguf(tiny, "llama");
  TinyGguf wrong = gguf;
  gguf.builder.u32s("llama.feed_forward_length", {56, 56, 56});
  EXPECT_EQ(fault(gguf), "no error");
  wrong.builder.u32s("llama.feed_forward_length", {56, 48, 56});
  const std::string text = fault(wrong);
  EXPECT_TRUE(text.starts_with("DIR/m.gguf: llama.feed_forward_length is ")) << text;
  EXPECT_TRUE(text.ends_with(", tensor blk.0.ffn_down.weight has 56 columns")) << text;
}

TEST_F(StatedInGguf, TheTokenListMustBeAsLongAsTheEmbedding) {
  TinyGguf gguf(tiny_case("llama"), "llama");
  gguf.builder.texts("tokenizer.ggml.tokens", {"a", "b"});
  EXPECT_EQ(fault(gguf),
            "DIR/m.gguf: tokenizer.ggml.tokens has 2 entries, the embedding has 96 rows");
}

TEST_F(StatedInGguf, AContextOfNothingIsRefused) {
  EXPECT_EQ(fault("max_position_embeddings", 0),
            "DIR/m.gguf: llama.context_length must be at least 1, found 0");
}

TEST_F(StatedInGguf, RotatedChannelsMustFitTheHead) {
  EXPECT_EQ(fault_with("rope.dimension_count", 12), "no error");
  EXPECT_EQ(fault_with("rope.dimension_count", 0),
            "DIR/m.gguf: llama.rope.dimension_count must be an even number of at least 2, found 0");
  EXPECT_EQ(fault_with("rope.dimension_count", 6),
            "DIR/m.gguf: llama.rope.dimension_count must be the head dim 12, as this "
            "architecture's q and k are stored in an order of whole heads, found 6");
  for (const uint32_t odd_or_large : {5U, 14U}) {
    EXPECT_EQ(fault_with("rope.dimension_count", odd_or_large),
              str("DIR/m.gguf: llama.rope.dimension_count is ", odd_or_large,
                  ", expected an even number of at most the head dim 12"));
  }
}

TEST_F(StatedInGguf, HeadsThatDoNotFitAreToldInTheFilesKeys) {
  EXPECT_EQ(fault("head_dim", 15),
            "DIR/m.gguf: llama.rope.dimension_count is 15, expected an even number of at most the "
            "head dim 15");
}

TEST_F(StatedInGguf, AMissingHalfOfTheMlpIsNamedOnce) {
  for (const std::string name : {"blk.1.ffn_up.weight", "blk.1.ffn_gate.weight"}) {
    TinyGguf gguf(tiny_case("llama"), "llama");
    std::erase_if(gguf.tensors, [&](const auto& each) { return each.first == name; });
    EXPECT_EQ(fault(gguf), "DIR/m.gguf: tensor " + name + " is missing");
  }
}

class StatedInConfig : public LoadTest {
 protected:
  StatedInConfig() : tiny_(tiny_case("llama")), config_(tiny_.at("config")) {}
  std::string fault() const {
    write_checkpoint(folder_, config_, tiny_tensors(tiny_));
    return message_of([&] { load_model(folder_); });
  }
  std::string fault_with(const char* key, const Json& value) {
    config_ = tiny_.at("config");
    config_[key] = value;
    return fault();
  }
  Json tiny_, config_;
};

TEST_F(StatedInConfig, SizesThatDoNotFitAreToldInTheFilesKeys) {
  EXPECT_EQ(fault_with("num_key_value_heads", 3),
            "DIR: num_attention_heads 4 over num_key_value_heads 3 is no whole ratio");
  EXPECT_EQ(fault_with("head_dim", 15), "DIR: head_dim is 15, expected an even number");
  EXPECT_EQ(fault_with("rms_norm_eps", 0.0), "DIR: rms_norm_eps must be above 0, found 0.0");
  EXPECT_EQ(fault_with("intermediate_size", 1000000000000),
            "DIR: intermediate_size must be a whole number from 1 to 1000000000, found "
            "1000000000000");
  EXPECT_EQ(fault_with("num_hidden_layers", 0),
            "DIR/config.json: num_hidden_layers must be a whole number from 1 to 100000, got 0");
}

TEST_F(StatedInConfig, AWidthThatHeadsDoNotDivideIsToldInTheFilesKeys) {
  config_.erase("head_dim");
  config_["num_key_value_heads"] = 1;
  config_["num_attention_heads"] = 5;
  EXPECT_EQ(fault(),
            "DIR: hidden_size 48 is no multiple of num_attention_heads 5, and head_dim is not "
            "given");
  config_["num_attention_heads"] = 16;
  EXPECT_EQ(fault(),
            "DIR: hidden_size 48 over num_attention_heads 16 is a head dim of 3, expected an even "
            "number");
}

TEST_F(StatedInConfig, TheClassThatWroteTheWeightsMustBeOfTheFamily) {
  EXPECT_EQ(fault_with("architectures", {"LlamaForCausalLM"}), "no error");
  EXPECT_EQ(fault_with("architectures", {"MistralForCausalLM"}), "no error");  // the same weights
  EXPECT_EQ(fault_with("architectures", {"SomethingElse"}), "no error");
  EXPECT_EQ(fault_with("architectures", {"Gemma2ForCausalLM"}),
            "DIR: model_type says Llama, architectures says Gemma2ForCausalLM; restore the "
            "config.json of these weights");
  config_["architectures"] = {"LlamaForCausalLM"};
  config_["model_type"] = "gemma";
  EXPECT_EQ(fault(),
            "DIR: model_type says Gemma, architectures says LlamaForCausalLM; restore the "
            "config.json of these weights");
}

TEST_F(StatedInConfig, TensorsOfAnotherFamilyAreMissingOrLeftOver) {
  config_["model_type"] = "gemma2";
  EXPECT_NE(fault().find("model.layers.0.pre_feedforward_layernorm.weight is missing"),
            std::string::npos)
      << fault();
  tiny_ = tiny_case("gemma2");
  config_ = tiny_.at("config");
  config_["model_type"] = "llama";
  config_["hidden_act"] = "silu";
  EXPECT_NE(fault().find("is no part of a Llama model"), std::string::npos) << fault();
}

TEST_F(StatedInConfig, LongTextsAreCut) {
  const std::string text = fault_with("model_type", std::string(100000, 'x'));
  EXPECT_TRUE(text.starts_with("DIR: model_type '" + std::string(80, 'x') + "...' cannot be"))
      << text.substr(0, 300);
  EXPECT_LT(fault_with("hidden_act", std::string(100000, 'x')).size(), 200U);
}

}  // namespace
}  // namespace gyre::model
