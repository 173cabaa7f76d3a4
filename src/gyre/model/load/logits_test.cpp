// Logits of every family against transformers, in float32 on the same weights (testdata), from the
// folder and from its GGUF.
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include "gyre/model/load/tiny_gguf_testing.h"
#include "gyre/model/transformer.h"

namespace gyre::model {
namespace {

class LoadLogits : public LoadTest {
 protected:
  /// max |ours - transformers| over the kept positions.
  static double difference(const Json& tiny, const LoadedModel& loaded) {
    const c10::NoGradGuard no_grad;
    const auto ids = tiny.at("tokens").get<std::vector<int64_t>>();
    const auto T = static_cast<int64_t>(ids.size());
    const Transformer model(loaded.config, loaded.plan_at_length(T), loaded.weights);
    const at::Tensor logits = model.forward(at::tensor(ids, at::kLong).view({1, T}))[0];
    double worst = 0.0;
    for (size_t i = 0; i < tiny.at("positions").size(); ++i) {
      const at::Tensor expected = at::tensor(tiny.at("logits")[i].get<std::vector<double>>());
      const at::Tensor actual = logits[tiny.at("positions")[i].get<int64_t>()];
      const auto most = (actual.to(at::kDouble) - expected).abs().max().item<double>();
      worst = most <= worst ? worst : most;  // a NaN stays
    }
    return worst;
  }
};

TEST_F(LoadLogits, EqualTransformersForEveryFamily) {
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(GYRE_SOURCE_DIR) / "src/gyre/model/load/testdata")) {
    SCOPED_TRACE(entry.path().stem().string());
    const Json tiny = tiny_case(entry.path().stem().string());
    write_checkpoint(folder_, tiny.at("config"), tiny_tensors(tiny));
    const double worst = difference(tiny, load_model(folder_));
    EXPECT_TRUE(worst <= 1e-4) << worst;
  }
}

TEST_F(LoadLogits, EqualTransformersFromGguf) {
  for (const char* name :
       {"llama", "llama_biases", "llama_attention_biases", "llama_bands", "qwen2", "qwen3", "gemma",
        "gemma2", "gemma3", "phi3_by_length", "smollm3_by_rule"}) {
    SCOPED_TRACE(name);
    write_file_atomic(folder_ / "m.gguf", tiny_gguf(name).bytes());
    const double worst = difference(tiny_case(name), load_model(folder_ / "m.gguf"));
    EXPECT_TRUE(worst <= 1e-4) << worst;
  }
}

}  // namespace
}  // namespace gyre::model
