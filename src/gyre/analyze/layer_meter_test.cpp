// The measures of one layer on a model whose heads are made by hand.
#include "gyre/analyze/layer_meter.h"

#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gyre/analyze/catalogue.h"
#include "gyre/analyze/constructed_testing.h"
#include "gyre/analyze/usage.h"

namespace gyre::analyze {
namespace {

struct Measured {
  model::Transformer model = constructed_model();
  std::unique_ptr<model::Tokenizer> tokenizer = model::byte_tokenizer();
  Subject subject{.name = "constructed",
                  .identity = "",
                  .model = model,
                  .tokenizer = *tokenizer,
                  .train_length = 64,
                  .begin_token = kBegin};
  AnalyzeOptions options{.tokens = 64, .windows = 2, .random_rows = 2};
  Rows rows = make_rows(subject, builtin_texts(), options);
  std::vector<LayerRecord> layers;

  Measured() {
    LayerMeter meter(subject, rows);
    const c10::NoGradGuard no_grad;
    model.hidden(rows.tokens, {.tap = [&](int64_t n, at::Tensor& q, at::Tensor& k, at::Tensor& v) {
                   layers.push_back(meter.measure(n, q, k, v));
                 }});
  }
};

const Measured& measured() {
  static const Measured once;
  return once;
}

TEST(LayerMeter, FindsTheConstructedHeads) {
  const Catalogue catalogue = make_catalogue(measured().layers, 0.5);
  ASSERT_EQ(catalogue.heads.size(), 8U);
  const std::array<Role, 5> expected = {Role::Diagonal, Role::Previous, Role::Sink, Role::Content,
                                        Role::Induction};
  for (size_t h = 0; h < expected.size(); ++h) {
    ASSERT_TRUE(catalogue.heads[h].role.has_value()) << h << " " << catalogue.heads[h].score;
    EXPECT_EQ(*catalogue.heads[h].role, expected[h]) << h;
  }
  for (size_t h = 5; h < 8; ++h) {
    EXPECT_FALSE(catalogue.heads[h].role.has_value()) << h << " " << catalogue.heads[h].score;
  }
  EXPECT_EQ(catalogue.n_strong, 2);
}

TEST(LayerMeter, PositionalHeadsUseTheFastPairs) {
  // All of their norm lies in the four rotating pairs, the fastest eight of 32.
  const Catalogue catalogue = make_catalogue(measured().layers, 0.5);
  EXPECT_NEAR(catalogue.heads[0].high_share, 1.0, 1e-6);
  EXPECT_NEAR(catalogue.heads[1].high_share, 1.0, 1e-6);
  EXPECT_LT(catalogue.heads[3].high_share, 0.2);
}

TEST(LayerMeter, NormsAreThoseOfTheConstruction) {
  // Stream of the first layer: 8 in the constant channel over the root mean square of 64 + 56 over
  // 136 channels; times 1.2 in each rotating pair of head 0.
  const double constant = 8.0 / std::sqrt(120.0 / 136.0 + 1e-5);
  const LayerRecord& layer = measured().layers[0];
  for (size_t m = 0; m < 4; ++m) {
    EXPECT_NEAR(layer.q_heads[0][m], 1.2 * constant, 1e-4) << m;
    EXPECT_NEAR(layer.k_heads[1][m], 1.2 * constant, 1e-4) << m;
  }
  EXPECT_NEAR(layer.q_heads[0][4], 0.0, 1e-6);
  EXPECT_TRUE(std::isnan(layer.q_rest));
}

TEST(LayerMeter, MeanOverHeadsIsTheLayer) {  // claim R21
  for (const LayerRecord& layer : measured().layers) {
    for (size_t m = 0; m < layer.wavelength.size(); ++m) {
      double by_head = 0.0, by_row = 0.0;
      for (const auto& head : layer.q_heads) {
        by_head += head[m] / static_cast<double>(layer.q_heads.size());
      }
      for (const auto& row : layer.q_rows) {
        by_row += row[m] / static_cast<double>(layer.q_rows.size());
      }
      EXPECT_NEAR(by_head, by_row, 1e-9);
    }
  }
}

TEST(LayerMeter, LogitsStayBelowTheirBound) {
  for (const LayerRecord& layer : measured().layers) {
    for (const HeadRecord& head : layer.heads) {
      EXPECT_LE(head.logit, head.bound * (1.0 + 1e-5) + 1e-6);
      EXPECT_LE(head.bound, head.product * (1.0 + 1e-5) + 1e-6);
    }
  }
  // A diagonal head attends where q and k are aligned in every pair: the bound is reached.
  EXPECT_NEAR(measured().layers[0].heads[0].logit / measured().layers[0].heads[0].bound, 1.0, 0.02);
}

TEST(LayerMeter, KeepsThePatternOfTheDiagonalHead) {
  const Pattern& pattern = measured().layers[0].patterns[static_cast<size_t>(Role::Diagonal)];
  EXPECT_EQ(pattern.head, 0);
  ASSERT_EQ(pattern.n, 64);
  for (int64_t i = 8; i < 64; ++i) {
    EXPECT_GT(pattern.cells[static_cast<size_t>(i * 64 + i)], 200) << i;
    EXPECT_EQ(pattern.cells[static_cast<size_t>(i * 64 + i + (i < 63 ? 1 : -63))], 0) << i;
  }
}

TEST(LayerRecordLine, ReadsBackWhatItWrote) {
  const LayerRecord& layer = measured().layers[0];
  const LayerRecord back = layer_from_line(to_line(layer), "layers.jsonl");
  EXPECT_EQ(to_line(back), to_line(layer));
  EXPECT_EQ(back.patterns[1].cells, layer.patterns[1].cells);
  EXPECT_TRUE(std::isinf(back.wavelength[31]));
}

TEST(LayerRecordLine, BrokenLinesAreNamed) {
  try {
    layer_from_line("{\"layer\": 1}", "out/layers.jsonl");
    FAIL();
  } catch (const std::exception& error) {
    EXPECT_TRUE(
        std::string(error.what()).starts_with("out/layers.jsonl: not a line of gyre analyze"))
        << error.what();
  }
}

}  // namespace
}  // namespace gyre::analyze
