#include "gyre/evaluate/validation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/full.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "gyre/evaluate/fixtures.h"
#include "gyre/model/transformer.h"

namespace gyre::evaluate {
namespace {

using testing::TempFolder;

data::Dataset make_dataset(const std::filesystem::path& folder,
                           const std::vector<uint16_t>& tokens) {
  data::Dataset dataset;
  dataset.val = testing::make_stream(folder / "val.bin", tokens);
  dataset.vocab = 64;
  return dataset;
}

model::Transformer tiny_model() {
  model::ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 64;
  config.width = 32;
  config.layers = 2;
  config.heads = 2;
  config.head_dim = 16;
  config.hidden = 64;
  config.init_std = 0.2;
  position::PositionPlan plan;
  plan.layout = position::PairLayout::Halves;
  plan.head_dim = 16;
  plan.rotary_dim = 16;
  position::LayerPlan layer;
  layer.inv_freq = {{1.0, 0.5, 0.25, 0.12, 0.06, 0.03, 0.015, 0.007}};
  plan.layers.assign(2, layer);
  model::Transformer model(config, plan);
  model.init(3);
  return model;
}

NllFn constant_nll(float value) {
  return [value](const at::Tensor& tokens, const at::Tensor&) {
    return at::full(tokens.sizes(), value, at::kFloat);
  };
}

TEST(Validation, EqualsLogSoftmaxOfOneWindowAtATime) {
  const TempFolder folder("validation-reference");
  const std::vector<uint16_t> tokens = testing::random_tokens(200, 64);
  const data::Dataset dataset = make_dataset(folder.path, tokens);
  const model::Transformer model = tiny_model();
  std::vector<std::string> notes;
  const Validation val = validate(
      dataset, 32, 0, 0, [&](const at::Tensor& x, const at::Tensor& y) { return model.nll(x, y); },
      notes);
  // Independent: logits -> log_softmax in double -> picked by index, window by window.
  double sum = 0.0;
  std::vector<double> windows;
  for (int64_t begin = 0; begin + 33 <= 200; begin += 32) {
    const at::Tensor inputs = dataset.val->read(begin, 32).unsqueeze(0);
    const at::Tensor logp = model.forward(inputs).to(at::kDouble).log_softmax(-1);
    double window = 0.0;
    for (int64_t t = 0; t < 32; ++t) {
      window -= logp[0][t][tokens[static_cast<size_t>(begin + t + 1)]].item<double>();
    }
    windows.push_back(window / 32);
    sum += window;
  }
  ASSERT_EQ(val.n_tokens, 192);
  EXPECT_NEAR(val.loss, sum / 192, 1e-5 * sum / 192);  // R23
  EXPECT_NEAR(val.ppl(), std::exp(sum / 192), 1e-4 * std::exp(sum / 192));
  ASSERT_EQ(val.blocks.size(), windows.size());
  for (size_t i = 0; i < windows.size(); ++i) {
    EXPECT_NEAR(val.blocks[i], windows[i], 1e-5 * windows[i]);
  }
  EXPECT_TRUE(notes.empty());
}

TEST(Validation, WeightedBlockAndPositionMeansGiveTheTotal) {
  const TempFolder folder("validation-blocks");
  const data::Dataset dataset = make_dataset(folder.path, testing::random_tokens(500, 64));
  const NllFn target_as_loss = [](const at::Tensor&, const at::Tensor& targets) {
    return targets.to(at::kFloat);
  };
  std::vector<std::string> notes;
  const Validation val = validate(dataset, 32, 320, 48, target_as_loss, notes);
  EXPECT_EQ(val.n_tokens, 320);
  EXPECT_EQ(val.block, 48);
  ASSERT_EQ(val.blocks.size(), 7U);  // six of 48 tokens, one of 32
  double blocks = 0.0, positions = 0.0;
  for (size_t i = 0; i < val.blocks.size(); ++i) {
    blocks += val.blocks[i] * (i < 6 ? 48 : 32);
  }
  int64_t n = 0;
  for (const Bucket& bucket : val.positions) {
    positions += bucket.loss * static_cast<double>(bucket.n);
    n += bucket.n;
  }
  EXPECT_NEAR(blocks / 320, val.loss, 1e-12);
  EXPECT_EQ(n, 320);
  EXPECT_NEAR(positions / 320, val.loss, 1e-12);
  EXPECT_EQ(val.positions.front().n, 10);  // position 0 of ten windows
}

TEST(Validation, BitsPerByteNeedsBytesPerToken) {
  const TempFolder folder("validation-bits");
  data::Dataset dataset = make_dataset(folder.path, testing::random_tokens(100, 64));
  std::vector<std::string> notes;
  const auto loss = static_cast<float>(2.0 * std::numbers::ln2);  // two bits per token
  EXPECT_TRUE(std::isnan(validate(dataset, 32, 0, 0, constant_nll(loss), notes).bits_per_byte));
  dataset.val_bytes_per_token = 4.0;
  EXPECT_NEAR(validate(dataset, 32, 0, 0, constant_nll(loss), notes).bits_per_byte, 0.5, 1e-7);
}

TEST(Validation, SaysWhatIsMissing) {
  const TempFolder folder("validation-notes");
  const data::Dataset dataset = make_dataset(folder.path, testing::random_tokens(100, 64));
  std::vector<std::string> notes;
  EXPECT_EQ(validate(dataset, 32, 1000, 0, constant_nll(1.0F), notes).n_tokens, 96);
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_EQ(notes[0], "validation: 1000 tokens asked, the split holds 96 in whole windows");
  validate(dataset, 32, 32, 0, constant_nll(NAN), notes);
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[1], "validation: the loss of 32 tokens is not finite");
  try {
    validate(dataset, 100, 0, 0, constant_nll(1.0F), notes);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "eval: the validation split has 100 tokens, one window of the training length "
                 "needs 101; use more text or a larger --val-share");
  }
}

}  // namespace
}  // namespace gyre::evaluate
