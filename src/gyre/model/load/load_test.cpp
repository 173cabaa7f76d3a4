// What a checkpoint becomes: sizes, names, layouts; and one line for each way it can be wrong.
#include "gyre/model/load/load.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include "gyre/model/load/load_testing.h"
#include "gyre/model/shapes.h"

namespace gyre::model {
namespace {

using Load = LoadTest;
using tensor::NamedTensors;

const at::Tensor& tensor_of(const NamedTensors& tensors, const std::string& name) {
  for (const auto& [each, value] : tensors) {
    if (each == name) {
      return value;
    }
  }
  throw Error(Code::Internal, "no tensor ", name);
}

void replace(NamedTensors& tensors, const std::string& name, const at::Tensor& value) {
  for (auto& [each, old] : tensors) {
    old = each == name ? value : old;
  }
}

void drop(NamedTensors& tensors, const std::string& name) {
  std::erase_if(tensors, [&](const auto& each) { return each.first == name; });
}

const std::string kBlock = "model.layers.1.";

TEST_F(Load, ReadsSizesAndSettingsOfEachFamily) {
  const Json tiny = tiny_case("gemma2");
  write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
  const LoadedModel model = load_model(folder_);
  EXPECT_EQ(model.family->name, "Gemma 2");
  EXPECT_EQ(model.config.vocab, 96);
  EXPECT_EQ(model.config.width, 48);
  EXPECT_EQ(model.config.layers, 3);
  EXPECT_EQ(model.config.heads, 4);
  EXPECT_EQ(model.config.n_kv_heads(), 2);
  EXPECT_EQ(model.config.head_dim, 16);
  EXPECT_EQ(model.config.hidden, 56);
  EXPECT_EQ(model.config.mlp, Mlp::GeGlu);
  EXPECT_TRUE(model.config.tied);
  EXPECT_TRUE(model.config.post_norm);
  EXPECT_FALSE(model.config.qk_norm);
  EXPECT_EQ(model.config.embedding_scale, std::sqrt(48.0));
  EXPECT_EQ(model.config.logit_cap, 3.0);
  EXPECT_EQ(model.plan.layout, position::PairLayout::Halves);
  EXPECT_EQ(model.plan.layers[0].score_cap, 2.0);
  EXPECT_EQ(model.plan.layers[0].logit_scale, std::sqrt(16.0 / 24.0));
  EXPECT_EQ(model.plan.layers[0].mask.window, 8);
  EXPECT_EQ(model.plan.layers[1].mask.window, 0);
  EXPECT_EQ(model.max_length, 64);
}

TEST_F(Load, EveryParameterOfEveryFamilyHasItsSizes) {
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(GYRE_SOURCE_DIR) / "src/gyre/model/load/testdata")) {
    SCOPED_TRACE(entry.path().stem().string());
    const Json tiny = tiny_case(entry.path().stem().string());
    write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      const LoadedModel model = load_model(folder_, {.dtype = dtype});
      for (const ParameterShape& shape : parameter_shapes(model.config)) {
        const at::Tensor value = model.weights->load(shape.name);
        EXPECT_EQ(value.sizes(), at::IntArrayRef(shape.sizes)) << shape.name;
        EXPECT_EQ(value.scalar_type(), shape.sizes.size() == 2 ? dtype : at::kFloat) << shape.name;
      }
    }
  }
}

TEST_F(Load, PacksProjectionsAndAddsTheOffsetOfNorms) {
  const Json tiny = tiny_case("gemma3");
  const NamedTensors stored = tiny_tensors(tiny);
  write_checkpoint(folder_, tiny.at("config"), stored);
  const LoadedModel model = load_model(folder_);
  const auto of = [&](const char* name) { return tensor_of(stored, kBlock + name + ".weight"); };
  EXPECT_TRUE(
      at::equal(model.weights->load("blocks.1.attention.qkv.weight"),
                at::cat({of("self_attn.q_proj"), of("self_attn.k_proj"), of("self_attn.v_proj")})));
  EXPECT_TRUE(at::equal(model.weights->load("blocks.1.mlp.gate_up.weight"),
                        at::cat({of("mlp.gate_proj"), of("mlp.up_proj")})));
  EXPECT_TRUE(at::equal(model.weights->load("blocks.1.attention_post_norm.weight"),
                        of("post_attention_layernorm") + 1));
  EXPECT_TRUE(at::equal(model.weights->load("blocks.1.attention.k_norm.weight"),
                        of("self_attn.k_norm") + 1));
}

TEST_F(Load, ReadsWhereTheFileHasWhatIsAskedFor) {
  const Json tiny = tiny_case("llama");
  write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
  const LoadedModel model = load_model(folder_);
  // the mapping itself: the same bytes each time, no copy
  EXPECT_EQ(model.weights->load("blocks.0.mlp.down.weight").const_data_ptr(),
            model.weights->load("blocks.0.mlp.down.weight").const_data_ptr());
  at::Tensor kept;
  {
    const LoadedModel other = load_model(folder_);
    kept = other.weights->load("norm.weight");
  }
  EXPECT_TRUE(at::equal(kept, tiny_weight("model.norm.weight", {48}, 1.0F)));
}

TEST_F(Load, BiasesThatAFamilySplitsReadAsZeros) {
  const Json tiny = tiny_case("llama_attention_biases");
  write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
  const LoadedModel model = load_model(folder_);
  EXPECT_TRUE(model.config.bias);
  EXPECT_TRUE(at::equal(model.weights->load("blocks.0.mlp.down.bias"), at::zeros({48})));
  EXPECT_FALSE(at::equal(model.weights->load("blocks.0.attention.out.bias"), at::zeros({48})));
}

TEST_F(Load, FindsTheLanguageModelInsideAMultimodalCheckpoint) {
  const Json tiny = tiny_case("gemma3");
  NamedTensors stored;
  for (const auto& [name, value] : tiny_tensors(tiny)) {
    stored.emplace_back("language_model." + name, value);
  }
  stored.emplace_back("vision_tower.patch.weight", at::zeros({2, 2}));
  const Json config = {{"model_type", "gemma3"}, {"text_config", tiny.at("config")}};
  write_checkpoint(folder_, config, stored);
  const LoadedModel model = load_model(folder_);
  EXPECT_EQ(model.config.hidden, 56);
  EXPECT_EQ(model.weights->load("blocks.2.mlp.down.weight").sizes(), at::IntArrayRef({48, 56}));
}

TEST_F(Load, AHeadSavedApartStaysTiedOnlyWhileItIsTheEmbedding) {
  const Json tiny = tiny_case("qwen2");
  NamedTensors stored = tiny_tensors(tiny);
  const at::Tensor embedding = tensor_of(stored, "model.embed_tokens.weight");
  stored.emplace_back("lm_head.weight", embedding.clone());
  write_checkpoint(folder_, tiny.at("config"), stored);
  EXPECT_TRUE(load_model(folder_).config.tied);
  replace(stored, "lm_head.weight", embedding * 2);
  write_checkpoint(folder_, tiny.at("config"), stored);
  const LoadedModel model = load_model(folder_);
  EXPECT_FALSE(model.config.tied);
  EXPECT_TRUE(at::equal(model.weights->load("head.weight"), embedding * 2));
}

TEST_F(Load, TablesFollowTheLengthWhereTheCheckpointSaysSo) {
  for (const char* name : {"llama_by_length", "phi3_by_length"}) {
    SCOPED_TRACE(name);
    const Json tiny = tiny_case(name);
    write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
    const LoadedModel model = load_model(folder_);
    EXPECT_EQ(model.plan.holds_to, 16);
    EXPECT_FALSE(model.plan.length_rule.empty());
    EXPECT_EQ(model.plan_at_length(16), model.plan);
    EXPECT_NE(model.plan_at_length(17).layers[0].inv_freq, model.plan.layers[0].inv_freq);
  }
}

class LoadFaults : public LoadTest {
 protected:
  LoadFaults() : tiny_(tiny_case("llama")), stored_(tiny_tensors(tiny_)) {
    config_ = tiny_.at("config");
  }
  std::string fault() {
    write_checkpoint(folder_, config_, stored_);
    return message_of([&] { load_model(folder_); });
  }
  Json tiny_, config_;
  NamedTensors stored_;
};

TEST_F(LoadFaults, AMissingTensorIsNamed) {
  drop(stored_, kBlock + "self_attn.k_proj.weight");
  EXPECT_EQ(fault(),
            "DIR/model.safetensors: tensor model.layers.1.self_attn.k_proj.weight is missing, and "
            "so is model.layers.1.self_attn.qkv_proj.weight");
  drop(stored_, "lm_head.weight");
  EXPECT_EQ(message_of([&] {
              NamedTensors whole = tiny_tensors(tiny_);
              drop(whole, "lm_head.weight");
              write_checkpoint(folder_, config_, whole);
              load_model(folder_);
            }),
            "DIR/model.safetensors: tensor lm_head.weight is missing");
  drop(stored_, "model.embed_tokens.weight");
  EXPECT_EQ(fault(), "DIR: tensor model.embed_tokens.weight is missing");
}

TEST_F(LoadFaults, AMisshapenTensorIsNamedWithBothSizes) {
  replace(stored_, kBlock + "mlp.down_proj.weight", at::zeros({48, 55}));
  EXPECT_EQ(fault(),
            "DIR/model.safetensors: tensor model.layers.1.mlp.down_proj.weight has sizes [48, 55], "
            "expected [48, 56] by the config's sizes");
}

TEST_F(LoadFaults, ATensorOfNoParameterIsNamed) {
  config_["num_hidden_layers"] = 2;
  EXPECT_EQ(fault(),
            "DIR/model.safetensors: tensor model.layers.2.self_attn.q_proj.weight is no part of a "
            "Llama model of 2 layers with the config's settings");
}

TEST_F(LoadFaults, ATypeThatCannotBeReadIsNamed) {
  replace(stored_, kBlock + "mlp.down_proj.weight", at::zeros({48, 56}, at::kByte));
  EXPECT_EQ(fault(),
            "DIR/model.safetensors: tensor model.layers.1.mlp.down_proj.weight has type U8, "
            "expected F32, BF16, F16 or F64; convert it to BF16 first");
}

TEST_F(LoadFaults, AnUnknownFamilyIsToldTheKnownOnes) {
  config_["model_type"] = "mamba";
  EXPECT_EQ(fault(),
            "DIR: model_type 'mamba' cannot be loaded; known are llama, mistral, qwen2, qwen3, "
            "gemma, gemma2, gemma3_text, gemma3, phi3, smollm3");
}

TEST_F(LoadFaults, QuantisedWeightsAreRefused) {
  config_["quantization_config"] = {{"quant_method", "gptq"}, {"bits", 4}};
  EXPECT_EQ(fault(),
            "DIR: the weights are quantised (quant_method gptq), which is not supported; use the "
            "checkpoint it was made from, or a GGUF");
}

TEST_F(LoadFaults, AnActivationThatIsNotThereIsNamed) {
  config_["hidden_act"] = "relu";
  EXPECT_EQ(fault(), "DIR: hidden_act is 'relu', expected silu or gelu_pytorch_tanh");
  config_["hidden_act"] = 3;
  EXPECT_EQ(fault(), "DIR: hidden_act must be a text, found 3");
}

TEST_F(LoadFaults, AModelIsAFolderOrAGguf) {
  write_checkpoint(folder_, config_, stored_);
  EXPECT_EQ(message_of([&] { load_model(folder_ / "config.json"); }),
            "DIR/config.json: a model is a folder with config.json and *.safetensors, or a .gguf "
            "file; name the folder");
  std::filesystem::remove(folder_ / "model.safetensors");
  EXPECT_EQ(message_of([&] { load_model(folder_); }),
            "DIR: no *.safetensors file with weights; fetch the whole checkpoint");
  write_file_atomic(folder_ / "pytorch_model.bin", "x");
  EXPECT_EQ(message_of([&] { load_model(folder_); }),
            "DIR: no *.safetensors file with weights; pytorch_model.bin is a pickle, which is not "
            "read; convert with: transformers' save_pretrained(folder)");
}

}  // namespace
}  // namespace gyre::model
