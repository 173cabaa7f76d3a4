// GGUF checkpoints: the same parameters as from the Hugging Face folder they were converted from,
// and one line for each way a file can be wrong.
#include <ATen/ops/allclose.h>
#include <ATen/ops/equal.h>

#include "gyre/model/load/tiny_gguf_testing.h"
#include "gyre/model/shapes.h"

namespace gyre::model {
namespace {

class LoadGguf : public LoadTest {
 protected:
  std::filesystem::path write(const TinyGguf& gguf) const {
    write_file_atomic(folder_ / "m.gguf", gguf.bytes());
    return folder_ / "m.gguf";
  }
  std::string fault(const TinyGguf& gguf) const {
    const auto path = write(gguf);
    return message_of([&] { load_model(path); });
  }
};

TEST_F(LoadGguf, GivesTheParametersOfTheFolderItWasConvertedFrom) {
  for (const char* name : {"llama", "llama_biases", "llama_attention_biases", "llama_bands",
                           "qwen2", "qwen3", "gemma", "phi3_by_length", "smollm3_by_rule"}) {
    SCOPED_TRACE(name);
    const Json tiny = tiny_case(name);
    write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
    const LoadedModel hf = load_model(folder_);
    const LoadedModel gguf = load_model(write(tiny_gguf(name)));
    for (const ParameterShape& shape : parameter_shapes(hf.config)) {
      EXPECT_TRUE(at::equal(gguf.weights->load(shape.name), hf.weights->load(shape.name)))
          << shape.name;
    }
    EXPECT_EQ(count_parameters(gguf.config), count_parameters(hf.config));
    EXPECT_EQ(gguf.plan.layout, hf.plan.layout);
    EXPECT_EQ(gguf.plan.holds_to, hf.plan.holds_to);
    const position::LayerPlan ours = gguf.plan_at_length(24).layers[1];
    const position::LayerPlan theirs = hf.plan_at_length(24).layers[1];
    ASSERT_EQ(ours.inv_freq[0].size(), theirs.inv_freq[0].size());
    for (size_t m = 0; m < ours.inv_freq[0].size(); ++m) {
      EXPECT_NEAR(ours.inv_freq[0][m] / theirs.inv_freq[0][m], 1.0, 1e-6);  // float32 divisors
    }
    EXPECT_NEAR(ours.amplitude, theirs.amplitude, 1e-6);
  }
}

TEST_F(LoadGguf, ReadsAModelInPartsWhicheverIsNamed) {
  const TinyGguf whole = tiny_gguf("llama");
  TinyGguf parts[2] = {whole, whole};
  for (size_t i = 0; i < 2; ++i) {
    parts[i].builder.key("split.count", tensor::GgufType::U16, tensor::raw_bytes(uint16_t{2}));
    std::erase_if(parts[i].tensors, [&](const auto& each) {
      const bool second = each.first.starts_with("blk.2.");
      return second != (i == 1);
    });
    write_file_atomic(folder_ / str("m-0000", i + 1, "-of-00002.gguf"), parts[i].bytes());
  }
  for (const std::string name : {"", "m-00001-of-00002.gguf"}) {
    const LoadedModel model = load_model(name.empty() ? folder_ : folder_ / name);
    EXPECT_EQ(model.weights->load("blocks.2.attention.qkv.weight").size(0), 96);
  }
  std::filesystem::remove(folder_ / "m-00002-of-00002.gguf");
  EXPECT_EQ(message_of([&] { load_model(folder_ / "m-00001-of-00002.gguf"); }),
            "DIR/m-00001-of-00002.gguf: part m-00002-of-00002.gguf is missing; fetch it");
}

TEST_F(LoadGguf, FaultsAreNamed) {
  TinyGguf gguf = tiny_gguf("llama");
  const auto whole = gguf.tensors;
  std::erase_if(gguf.tensors, [](const auto& t) { return t.first == "blk.1.ffn_down.weight"; });
  EXPECT_EQ(fault(gguf), "DIR/m.gguf: tensor blk.1.ffn_down.weight is missing");
  gguf.tensors = whole;
  gguf.tensors.emplace_back("blk.1.ffn_gate_exps.weight", at::Tensor(whole[0].second));
  EXPECT_EQ(fault(gguf),
            "DIR/m.gguf: tensor blk.1.ffn_gate_exps.weight is no part of a Llama model of 3 layers "
            "with the config's settings");
  gguf.tensors = whole;
  std::erase_if(gguf.tensors, [](const auto& t) { return t.first == "blk.1.ffn_norm.weight"; });
  gguf.builder.tensor("blk.1.ffn_norm.weight", {48}, 24, std::string(48, 'x'));
  EXPECT_EQ(fault(gguf),
            "DIR/m.gguf: tensor blk.1.ffn_norm.weight has type I8, expected F32, F16, BF16, Q8_0, "
            "Q4_0, Q4_1, Q5_0, Q5_1, Q4_K, Q5_K or Q6_K; convert with: llama-quantize "
            "--allow-requantize FILE OUT Q8_0");
}

TEST_F(LoadGguf, ATypeWithoutANameIsNamedByItsNumber) {
  TinyGguf gguf = tiny_gguf("llama");
  std::erase_if(gguf.tensors, [](const auto& t) { return t.first == "blk.1.ffn_norm.weight"; });
  gguf.builder.tensor("blk.1.ffn_norm.weight", {48}, 99, std::string(48, 'x'));
  EXPECT_TRUE(
      fault(gguf).starts_with("DIR/m.gguf: tensor blk.1.ffn_norm.weight has type 99, expected F32"))
      << fault(gguf);
}

TEST_F(LoadGguf, AnUnknownArchitectureIsToldTheKnownOnes) {
  EXPECT_EQ(
      fault(TinyGguf(tiny_case("llama"), "mpt")),
      "DIR/m.gguf: architecture 'mpt' cannot be loaded; known are llama, qwen2, qwen3, gemma, "
      "gemma2, gemma3, phi3, smollm3");
}

TEST_F(LoadGguf, AFileCutShortIsNamed) {
  const auto path = write(tiny_gguf("llama"));
  const std::string bytes = read_file(path);
  write_file_atomic(path, bytes.substr(0, bytes.size() - 64));
  const std::string text = message_of([&] { load_model(path); });
  EXPECT_NE(text.find("the file may be cut short"), std::string::npos) << text;
}

}  // namespace
}  // namespace gyre::model
