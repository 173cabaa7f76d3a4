// Band reports of constructed queries and keys whose answers follow by hand.
#include "gyre/evaluate/bands.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "gyre/attention/rotation.h"

namespace gyre::evaluate {
namespace {

using position::PairLayout;
using Frequencies = std::vector<std::vector<std::vector<double>>>;

constexpr int64_t kTrainLength = 64;

position::PositionPlan make_plan(PairLayout layout, int64_t head_dim, int64_t rotary_dim,
                                 const Frequencies& inv_freq) {
  position::PositionPlan plan;
  plan.layout = layout;
  plan.head_dim = head_dim;
  plan.rotary_dim = rotary_dim;
  for (const auto& layer : inv_freq) {
    plan.layers.emplace_back();
    plan.layers.back().inv_freq = layer;
  }
  return plan;
}

/// [1, heads, 16, 8]: the two channels of `pair` hold (re, im) at every position, the rest 0.
at::Tensor only_pair(PairLayout layout, int64_t heads, int64_t pair, double re, double im) {
  at::Tensor x = at::zeros({1, heads, 16, 8}, at::kFloat);
  const bool interleaved = layout == PairLayout::Interleaved;
  x.select(3, interleaved ? 2 * pair : pair).fill_(re);
  x.select(3, interleaved ? 2 * pair + 1 : pair + 4).fill_(im);
  return x;
}

TEST(Bands, ADecayingBandContributesLessFarAway) {
  // C(delta) = A e^(-0.1 delta) with a frequency that hardly turns: range over 10 tokens by hand.
  const Frequencies inv_freq = {{{1e-9, 0.0, 0.0, 0.0}}};
  auto plan = make_plan(PairLayout::Halves, 8, 8, inv_freq);
  plan.layers[0].decay = {0.1, 0.1, 0.1, 0.1};
  const model::Capture capture{{only_pair(PairLayout::Halves, 1, 0, 1.0, 0.0)},
                               {only_pair(PairLayout::Halves, 1, 0, 2.0, 0.0)}};
  const auto report = analyze_bands(capture, plan, inv_freq, 10);
  ASSERT_TRUE(report);
  EXPECT_NEAR(report->contribution[0][0], 2.0 / std::sqrt(8.0) * (1.0 - std::exp(-0.9)), 1e-6);
}

TEST(Bands, OneBandWithContentIsDominant) {
  const double theta = 2 * std::numbers::pi / (2.2 * kTrainLength);
  const Frequencies inv_freq = {{{1.0, 0.3, 0.1, theta}}};
  for (const PairLayout layout : {PairLayout::Interleaved, PairLayout::Halves}) {
    const model::Capture capture{{only_pair(layout, 2, 3, 3.0, 4.0)},
                                 {only_pair(layout, 2, 3, 0.0, 2.0)}};
    const auto report =
        analyze_bands(capture, make_plan(layout, 8, 8, inv_freq), inv_freq, kTrainLength);
    ASSERT_TRUE(report && report->dominant);
    EXPECT_EQ(report->dominant->band, 3);
    EXPECT_NEAR(report->dominant->wavelength, 2.2 * kTrainLength, 1e-9);
    EXPECT_NEAR(report->dominant->over_train_length, 2.2, 1e-12);
    EXPECT_TRUE(std::isinf(report->dominant->ratio));
    EXPECT_NEAR(report->q_norm[0][3], 5.0, 1e-6);
    EXPECT_NEAR(report->k_norm[0][3], 2.0, 1e-6);
    EXPECT_EQ(report->q_norm[0][2], 0.0);
    // A = (3 + 4i) conj(2i) = 8 - 6i; C(delta) = 10 cos(delta theta - atan2(6, 8)) / sqrt(8)
    const double phase = std::atan2(6.0, 8.0);
    double low = 1e9, high = -1e9;
    for (int64_t delta = 0; delta < kTrainLength; ++delta) {
      const double c = 10.0 * std::cos(static_cast<double>(delta) * theta - phase) / std::sqrt(8.0);
      low = std::min(low, c);
      high = std::max(high, c);
    }
    EXPECT_NEAR(report->contribution[0][3], high - low, 1e-6);
    EXPECT_NEAR(report->curve_dominant[0][0], 8.0 / std::sqrt(8.0), 1e-6);
    EXPECT_NEAR(report->entropy, 0.0, 1e-12);
    EXPECT_EQ(report->gathered, std::vector<int64_t>{3});
    EXPECT_TRUE(report->suppressed.empty());
    EXPECT_EQ(report->distance.back(), 4 * kTrainLength);
  }
}

TEST(Bands, ContributionsSumToTheMeanRotatedLogit) {
  // Independent: rotate constant q and k with the model's own rotation and take their product.
  const Frequencies inv_freq = {{{1.0, 0.3, 0.1}, {0.7, 0.2, 0.05}}};  // two groups, 6 of 8 dims
  const auto plan = make_plan(PairLayout::Halves, 8, 6, inv_freq);
  const auto generator = at::make_generator<at::CPUGeneratorImpl>(5);
  const at::Tensor q = at::randn({1, 4, 1, 8}, generator, at::kDouble).expand({1, 4, 16, 8});
  const at::Tensor k = at::randn({1, 2, 1, 8}, generator, at::kDouble).expand({1, 2, 16, 8});
  const auto report = analyze_bands({{q}, {k}}, plan, inv_freq, 16);
  ASSERT_TRUE(report && report->dominant);
  const auto theta = at::tensor({1.0, 0.3, 0.1, 0.7, 0.2, 0.05}, at::kDouble).view({2, 3});
  const auto rotation =
      attention::make_rotation(theta, at::arange(16), PairLayout::Halves, 1.0, at::kDouble);
  const auto [qr, kr] = attention::rotate(q.contiguous(), k.contiguous(), rotation);
  const at::Tensor rotary_k = kr.narrow(3, 0, 6).repeat_interleave(2, 1);
  const at::Tensor scores =
      at::matmul(qr.narrow(3, 0, 6), rotary_k.transpose(2, 3)) / std::sqrt(8.0);
  for (size_t i = 0; i < report->distance.size() && report->distance[i] < 16; ++i) {
    const int64_t delta = report->distance[i];
    const double mean = scores.select(2, 15).select(2, 15 - delta).mean().item<double>();
    EXPECT_NEAR(report->curve_dominant[0][i] + report->curve_others[0][i], mean, 1e-9) << delta;
  }
}

TEST(Bands, ContentMeanTakesCausalPairs) {
  // T = 2: pairs (0,0), (1,0), (1,1). q = 1, 10 and k = 1, 100 (real) give (1 + 10 + 1000) / 3.
  at::Tensor q = at::zeros({1, 1, 2, 2}, at::kFloat), k = at::zeros({1, 1, 2, 2}, at::kFloat);
  q[0][0][0][0] = 1.0;
  q[0][0][1][0] = 10.0;
  k[0][0][0][0] = 1.0;
  k[0][0][1][0] = 100.0;
  const Frequencies inv_freq = {{{0.5}}};
  const auto report =
      analyze_bands({{q}, {k}}, make_plan(PairLayout::Halves, 2, 2, inv_freq), inv_freq, 8);
  EXPECT_NEAR(report->curve_dominant[0][0], 1011.0 / 3 / std::sqrt(2.0), 1e-3);
}

TEST(Bands, MeanOverHeadsIsTheLayerMap) {
  const Frequencies inv_freq = {{{1.0, 0.3, 0.1, 0.01}}};
  const at::Tensor q = at::cat({only_pair(PairLayout::Halves, 1, 1, 3.0, 4.0),
                                only_pair(PairLayout::Halves, 1, 1, 0.0, 1.0)},
                               1);
  const auto report = analyze_bands({{q}, {only_pair(PairLayout::Halves, 1, 1, 1.0, 0.0)}},
                                    make_plan(PairLayout::Halves, 8, 8, inv_freq), inv_freq, 16);
  EXPECT_NEAR(report->q_norm_heads[0][0][1], 5.0, 1e-6);
  EXPECT_NEAR(report->q_norm_heads[0][1][1], 1.0, 1e-6);
  EXPECT_NEAR(report->q_norm[0][1], 3.0, 1e-6);  // R21
}

TEST(Bands, SuppressedAndGatheredByPhaseAtTrainingLength) {
  const double turn = 2 * std::numbers::pi / kTrainLength;  // one turn over the training length
  const Frequencies inv_freq = {{{turn, turn / 2, 0.049 * turn, 0.0}},
                                {{turn, turn / 3, 0.051 * turn, 0.0}}};
  const at::Tensor x = only_pair(PairLayout::Halves, 1, 0, 1.0, 0.0);
  const auto report = analyze_bands({{x, x}, {x, x}}, make_plan(PairLayout::Halves, 8, 8, inv_freq),
                                    inv_freq, kTrainLength);
  EXPECT_EQ(report->suppressed, std::vector<int64_t>{3});  // pair 2 turns further in layer 1
  EXPECT_EQ(report->gathered, std::vector<int64_t>{1});    // wavelength 2 L in layer 0
  EXPECT_TRUE(std::isinf(report->wavelength[0][3]));
}

TEST(Bands, EqualBandsHaveFullEntropy) {
  const Frequencies inv_freq = {{{0.5, 0.5, 0.5, 0.5}}};
  const at::Tensor x = at::ones({1, 1, 16, 8}, at::kFloat);
  const auto report = analyze_bands({{x}, {x}}, make_plan(PairLayout::Halves, 8, 8, inv_freq),
                                    inv_freq, kTrainLength);
  EXPECT_NEAR(report->effective_bands, 4.0, 1e-9);
  EXPECT_NEAR(report->dominant->ratio, 1.0, 1e-12);
  EXPECT_NEAR(report->cancellation, 0.0, 1e-12);  // equal phases add up
}

TEST(Bands, OppositeBandsCancel) {
  const Frequencies inv_freq = {{{2.0, 0.5, 0.5, 0.0}}};
  at::Tensor q = at::zeros({1, 1, 16, 8}, at::kFloat);
  q.select(3, 0).fill_(9.0);  // dominant
  q.select(3, 1).fill_(1.0);  // these two have opposite signs at every distance
  q.select(3, 2).fill_(-1.0);
  const at::Tensor k = at::ones({1, 1, 16, 8}, at::kFloat);
  const auto report = analyze_bands({{q}, {k}}, make_plan(PairLayout::Halves, 8, 8, inv_freq),
                                    inv_freq, kTrainLength);
  EXPECT_EQ(report->dominant->band, 0);
  EXPECT_NEAR(report->cancellation, 1.0, 1e-9);
}

TEST(Bands, NothingRotatesGivesNoReport) {
  const Frequencies zero = {{{0.0, 0.0, 0.0, 0.0}}}, none = {{}};
  const at::Tensor x = only_pair(PairLayout::Halves, 1, 0, 1.0, 0.0);
  EXPECT_FALSE(analyze_bands({{x}, {x}}, make_plan(PairLayout::Halves, 8, 8, zero), zero, 16));
  EXPECT_FALSE(analyze_bands({{x}, {x}}, make_plan(PairLayout::Halves, 8, 0, none), none, 16));
}

}  // namespace
}  // namespace gyre::evaluate
