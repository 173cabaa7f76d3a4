// Bits per byte of a text under a tiny model, against logits summed by hand in double.
#include "gyre/cli/text_loss.h"

#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "gyre/model/load/load_testing.h"
#include "gyre/train/any_model.h"

namespace gyre::cli {
namespace {

using model::Json;

/// The tiny Llama (made for 64 tokens) with a tokenizer of the letters a and b and the pair ab.
class TextLossOf : public model::LoadTest {
 protected:
  TextLossOf() {
    const Json tiny = model::tiny_case("llama");
    model::write_checkpoint(folder_, tiny.at("config"), model::tiny_tensors(tiny));
    const Json level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
    const Json bpe = {
        {"type", "BPE"}, {"vocab", {{"a", 0}, {"b", 1}, {"ab", 2}}}, {"merges", {"a b"}}};
    write_file_atomic(folder_ / "tokenizer.json",
                      Json{{"model", bpe}, {"pre_tokenizer", level}, {"decoder", level}}.dump());
  }

  /// -ln p of each token but the first, given those before it in its window.
  double nats(const std::vector<int64_t>& ids, size_t window) const {
    const c10::NoGradGuard no_grad;
    const train::AnyModel any = train::load_any_model(folder_);
    double sum = 0.0;
    for (size_t first = 0; first + 1 < ids.size(); first += window) {
      const size_t n = std::min(window, ids.size() - 1 - first);
      const std::vector<int64_t> inputs(ids.begin() + static_cast<std::ptrdiff_t>(first),
                                        ids.begin() + static_cast<std::ptrdiff_t>(first + n));
      const at::Tensor logits_TV =
          any.model.forward(at::tensor(inputs, at::kLong).unsqueeze(0))[0].to(at::kDouble);
      const double* row = logits_TV.const_data_ptr<double>();
      for (size_t t = 0; t < n; ++t, row += logits_TV.size(1)) {
        double total = 0.0;
        for (int64_t v = 0; v < logits_TV.size(1); ++v) {
          total += std::exp(row[v]);
        }
        sum += std::log(total) - row[ids[first + t + 1]];
      }
    }
    return sum;
  }
};

TEST_F(TextLossOf, IsNatsOverBytesOfWhatIsPredicted) {
  // b | ab a: the first token predicts only; 3 bytes are predicted.
  EXPECT_NEAR(text_bits_per_byte(folder_.string(), "baba"),
              nats({1, 2, 0}, 64) / std::log(2.0) / 3.0, 1e-5);
}

TEST_F(TextLossOf, BeginsAnewInEachWindowOfTheModelsLength) {
  std::string text;
  std::vector<int64_t> ids;
  for (int i = 0; i < 75; ++i) {  // tokens of one, one and two bytes
    text += i % 3 == 0 ? "b" : i % 3 == 1 ? "b" : "ab";
    ids.push_back(i % 3 == 2 ? 2 : 1);
  }
  const double bits = nats(ids, 64) / std::log(2.0) / static_cast<double>(text.size() - 1);
  EXPECT_NEAR(text_bits_per_byte(folder_.string(), text), bits, 1e-5);
  EXPECT_GT(std::abs(nats(ids, 1024) - nats(ids, 64)), 1e-3);  // the cut is seen
}

TEST_F(TextLossOf, NeedsTwoTokensAndATokenizer) {
  const auto fault = [&](const std::string& text) {
    try {
      text_bits_per_byte(folder_.string(), text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::Usage);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(fault("ab"), "inspect: --loss needs a text of at least two tokens, " +
                             folder_.string() + " makes 1");
  std::filesystem::remove(folder_ / "tokenizer.json");
  EXPECT_EQ(fault("abab"),
            "inspect --loss: " + folder_.string() +
                " has no tokenizer, and texts need one; gyre logits --tokens takes ids");
}

}  // namespace
}  // namespace gyre::cli
