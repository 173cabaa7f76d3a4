// What diff says when the GGUF side has scaling that does nothing, or keys of another meaning.
#include <limits>

#include "gyre/inspect/lint/test_models.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

const char* kYarn = R"({"model_type": "qwen2", "hidden_size": 4096, "num_hidden_layers": 4,
    "num_attention_heads": 32, "num_key_value_heads": 8, "max_position_embeddings": 131072,
    "rope_theta": 1000000.0, "rope_scaling": {"type": "yarn", "factor": 4.0,
    "original_max_position_embeddings": 32768}})";

ResolvedModel llama3_config() {
  ResolvedModel model;
  model.model_type = "llama";
  model.n_layers = 4;
  model.kinds = {rotating_kind(5e5, 128)};
  model.kinds[0].scheme = "llama3";
  model.kinds[0].plan.inv_freq[0] =
      position::llama3_bands(model.kinds[0].plan.inv_freq[0], {}).bands;
  return model;
}

std::string told(const std::vector<double>& freqs) {
  ResolvedModel other = gguf("llama", {{"rope.freq_base", 5e5}});
  other.tables = {{"rope_freqs.weight", "F32", freqs}};
  const std::vector<Finding> found = diff(llama3_config(), other);
  const std::string message = found.empty() ? "" : found[0].message;
  return message.substr(message.find("the GGUF has no scaling"));
}

TEST(DiffGguf, RopeFreqsThatAreThereAreNotCalledMissing) {
  EXPECT_EQ(told(std::vector<double>(64, 1.0)),
            "the GGUF has no scaling, rope_freqs.weight is there, all ones");
  EXPECT_EQ(told(std::vector<double>(32, 8.0)),
            "the GGUF has no scaling, rope_freqs.weight is there with 32 values for 64 pairs, so "
            "it is not used");
  EXPECT_EQ(told(std::vector<double>(64, std::numeric_limits<double>::quiet_NaN())),
            "the GGUF has no scaling, rope_freqs.weight is there with values that cannot be used");
}

TEST(DiffGguf, FactorWithoutATypeIsNotCalledNothing) {
  const std::vector<Finding> found =
      diff(resolve_config(kYarn, "c"),
           gguf("qwen2", {{"rope.freq_base", 1e6}, {"rope.scaling.factor", 4}}));
  const auto keys = std::find_if(found.begin(), found.end(),
                                 [](const Finding& one) { return one.id == "diff-scaling-keys"; });
  ASSERT_NE(keys, found.end());
  EXPECT_NE(keys->message.find("and the GGUF factor 4 without a type, which is read as linear; "
                               "write qwen2.rope.scaling.type = yarn"),
            std::string::npos)
      << keys->message;
}

// llama.cpp writes head_count_kv = 1 for latent attention; without its keys 1 is 1.
TEST(DiffGguf, LatentAttentionHasOneKeyValueHead) {
  const auto heads = [](const std::vector<std::pair<std::string, double>>& keys) {
    ResolvedModel config;
    config.model_type = "deepseek_v3";
    config.n_layers = 4;
    config.kinds = {rotating_kind(1e4, 64)};
    config.kinds[0].n_heads = config.kinds[0].n_kv_heads = 128;
    ResolvedModel other = gguf("deepseek2", keys);
    other.kinds = {rotating_kind(1e4, 64)};
    other.kinds[0].n_heads = 128;
    other.kinds[0].n_kv_heads = 1;
    std::vector<Finding> found = diff(config, other);
    std::erase_if(found, [](const Finding& one) { return one.id != "diff-heads"; });
    return found.size();
  };
  EXPECT_EQ(heads({{"attention.key_length_mla", 192}}), 0U);
  EXPECT_EQ(heads({{"attention.kv_lora_rank", 512}}), 0U);
  EXPECT_EQ(heads({}), 1U);
}

}  // namespace
}  // namespace gyre::inspect
