// Weights made block by block give the attention that the model computes.
#include "gyre/analyze/row_attention.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "gyre/analyze/offset_signal.h"
#include "gyre/attention/attention.h"

namespace gyre::analyze {
namespace {

at::Tensor normal(at::IntArrayRef sizes, uint64_t seed, at::ScalarType type = at::kFloat) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed),
                   at::TensorOptions().dtype(type));
}

TEST(RowAttention, AgreesWithTheModelsAttention) {
  constexpr int64_t H = 6, G = 2, T = 150, D = 8;
  const at::Tensor q = normal({1, H, T, D}, 1), k = normal({1, G, T, D}, 2),
                   v = normal({1, G, T, D}, 3);
  position::LayerPlan layer;
  layer.logit_scale = 1.7;
  layer.score_cap = 2.0;
  layer.slopes = {0.5, 0.25, 0.1, 0.05, 0.01, 0.0};
  layer.mask.window = 40;
  layer.mask.n_global = 2;
  std::vector<at::Tensor> parts;
  each_query_block(q[0], k[0], layer, visible_keys(layer.mask, T), [&](const QueryBlock& block) {
    const at::Tensor values = v[0].repeat_interleave(H / G, 0);
    parts.push_back(at::matmul(block.weights, values));
  });
  const at::Tensor expected = attention::attention(q, k, v, layer)[0];
  EXPECT_LT((at::cat(parts, 1) - expected).abs().max().item<double>(), 1e-5);
}

TEST(RowAttention, VisibleKeysFollowTheMask) {
  position::MaskSpec mask;
  mask.window = 2;
  const at::Tensor visible = visible_keys(mask, 4);
  EXPECT_TRUE(visible[3][2].item<bool>());
  EXPECT_FALSE(visible[3][1].item<bool>());
  EXPECT_FALSE(visible[1][2].item<bool>());
}

TEST(OffsetSignal, IsTheSumOverPairsOfTokens) {
  // Plain loops over the definition, without a rotation (theta 0): A = c sum G z_q conj(z_k).
  constexpr int64_t H = 2, T = 5;
  position::PositionPlan plan;
  plan.layout = position::PairLayout::Interleaved;
  plan.head_dim = 4;
  plan.rotary_dim = 4;
  const at::Tensor g = normal({1, H, T, T}, 4, at::kDouble),
                   q = normal({1, H, T, 4}, 5, at::kDouble),
                   k = normal({1, 1, T, 4}, 6, at::kDouble);
  const at::Tensor theta = at::zeros({1, 2}, at::kDouble);
  const at::Tensor signal = offset_signal(g, q, k, theta, plan, 0.5);
  const auto at = [](const at::Tensor& x, int64_t h, int64_t t, int64_t d) {
    return x[0][h][t][d].item<double>();
  };
  for (int64_t m = 0; m < 2; ++m) {
    for (int64_t d = 0; d < T; ++d) {
      double re = 0.0, im = 0.0;
      for (int64_t h = 0; h < H; ++h) {
        for (int64_t i = d; i < T; ++i) {
          const double qr = at(q, h, i, 2 * m), qi = at(q, h, i, 2 * m + 1);
          const double kr = at(k, 0, i - d, 2 * m), ki = at(k, 0, i - d, 2 * m + 1);
          re += 0.5 * at(g, h, i, i - d) * (qr * kr + qi * ki);
          im += 0.5 * at(g, h, i, i - d) * (qi * kr - qr * ki);
        }
      }
      EXPECT_NEAR(signal[0][0][m][d].item<double>(), re, 1e-12);
      EXPECT_NEAR(signal[1][0][m][d].item<double>(), im, 1e-12);
    }
  }
}

}  // namespace
}  // namespace gyre::analyze
