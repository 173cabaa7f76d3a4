// Reports 31 to 35: windows counted in two ways, slopes, sign and origin of a linear bias.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full_like.h>
#include <ATen/ops/tensor.h>

#include "gyre/verify/cases/cases_testing.h"

namespace gyre::verify {
namespace {

using position::LayerPlan;
using position::MaskSpec;
using Keys = std::vector<int64_t>;

Keys range(int64_t first, int64_t last) {
  return count_from(first, last - first + 1);
}

// transformers#39408, #29623, vllm#3385: W 4, query 10.
TEST(Case31, AWindowOfFourSeesItselfAndThreeBefore) {
  EXPECT_EQ(seen_keys(sound_subject(), {.window = 4}, 10, 11, 11), range(7, 10));
  EXPECT_EQ(seen_keys(faulty_subject("window-off-by-one"), {.window = 4}, 10, 11, 11),
            range(6, 10));  // left = W: 5 keys
}

TEST(Case31, DecodingAndChunkedPrefillSeeTheSameKeys) {
  for (const int64_t n_queries : {1, 2, 5, 11}) {
    EXPECT_EQ(seen_keys(sound_subject(), {.window = 4}, 10, 11, n_queries), range(7, 10))
        << n_queries;
  }
  EXPECT_EQ(seen_keys(faulty_subject("window-lost-in-decode"), {.window = 4}, 10, 11, 1),
            range(0, 10));
}

TEST(Case31, TheReferenceCountsAlike) {
  const Rows still = zero_rows({1, 1, 12, 12});
  Rows v = still;
  for (int64_t j = 0; j < 12; ++j) {
    v.at(0, 0, j, j) = 1.0;
  }
  LayerPlan layer;
  layer.mask.window = 4;
  const Rows out = attention::reference_attention(
      {still, still, v, count_from(0, 12), count_from(0, 12), position::PairLayout::Halves, layer});
  for (int64_t j = 0; j < 12; ++j) {
    EXPECT_EQ(out.at(0, 0, 10, j), j >= 7 && j <= 10 ? 0.25 : 0.0) << j;
  }
}

TEST(Case31, OtherWindowsDilationsAndGlobalTokens) {
  const Subject sound = sound_subject();
  EXPECT_EQ(seen_keys(sound, {.window = 1}, 10, 11, 11), Keys{10});
  EXPECT_EQ(seen_keys(sound, {.window = 4}, 2, 11, 11), range(0, 2));
  EXPECT_EQ(seen_keys(sound, {.window = 4, .dilation = 3}, 10, 11, 11), (Keys{1, 4, 7, 10}));
  EXPECT_EQ(seen_keys(sound, {.window = 4, .n_global = 2}, 10, 11, 11), (Keys{0, 1, 7, 8, 9, 10}));
  EXPECT_EQ(seen_keys(sound, {.chunk = 4}, 10, 11, 11), range(8, 10));  // own chunk, no window
}

// bomri/SlowFast#5: Longformer's "18" is one side in the original code, the total in another. A
// causal window of W keys is one side and the query itself; both sides are 2 (W - 1) + 1.
int64_t both_sides(const Subject& subject, int64_t window, int64_t dilation = 1) {
  const MaskSpec mask{.window = window, .dilation = dilation};
  const auto keys = seen_keys(subject, mask, 99, 100, 1);
  return 2 * (static_cast<int64_t>(keys.size()) - 1) + 1;
}

TEST(Case32, EighteenASideIs37Keys) {
  EXPECT_EQ(both_sides(sound_subject(), 18 + 1), 37);
  EXPECT_EQ(seen_keys(sound_subject(), {.window = 19}, 99, 100, 100), range(81, 99));
}

TEST(Case32, EighteenInTotalIs19Keys) {
  EXPECT_EQ(both_sides(sound_subject(), 18 / 2 + 1), 19);
  EXPECT_EQ(both_sides(faulty_subject("window-halved"), 18 + 1), 19);
}

TEST(Case32, OtherValuesAndADilatedWindow) {
  EXPECT_EQ(both_sides(sound_subject(), 8 + 1), 17);
  EXPECT_EQ(both_sides(sound_subject(), 8 / 2 + 1), 9);
  EXPECT_EQ(both_sides(sound_subject(), 18 + 1, 2), 37);  // as many keys, twice as far
  EXPECT_EQ(seen_keys(sound_subject(), {.window = 19, .dilation = 2}, 99, 100, 1).front(), 63);
  EXPECT_EQ(position::parse_masks("dilated:19x2", 1)[0], (MaskSpec{.window = 19, .dilation = 2}));
}

std::vector<double> slopes_of(const Subject& subject, int64_t n_heads) {
  return subject.plan("alibi", request_of(8, n_heads, n_heads)).layers[0].slopes;
}

// paiml/aprender#2143: n 8.
TEST(Case33, EightHeadsHaveHalvesDownTo2ToTheMinus8) {
  EXPECT_EQ(slopes_of(sound_subject(), 8), (std::vector<double>{0.5, 0.25, 0.125, 0.0625, 0.03125,
                                                                0.015625, 0.0078125, 0.00390625}));
}

TEST(Case33, TheFaultStartsAtOne) {
  const auto slopes = slopes_of(faulty_subject("slope-exponent"), 8);
  EXPECT_EQ(slopes.front(), 1.0);
  EXPECT_EQ(slopes.back(), 0.0078125);
}

TEST(Case33, OtherHeadCountsStartOneStepDownToo) {
  EXPECT_EQ(slopes_of(sound_subject(), 1), std::vector<double>{0.00390625});
  EXPECT_EQ(slopes_of(sound_subject(), 16).front(), std::sqrt(0.5));
  EXPECT_EQ(slopes_of(sound_subject(), 16).back(), 0.00390625);
  const auto twelve = slopes_of(sound_subject(), 12);  // 8 of n 8, then 4 of n 16: BLOOM's rule
  EXPECT_EQ(twelve[7], 0.00390625);
  for (size_t h = 8; h < 12; ++h) {
    EXPECT_NEAR(twelve[h], std::exp2(-0.5 - static_cast<double>(h - 8)), 1e-16) << h;
  }
}

/// Bias of key j against key i at query i of head 0, read out of two equal scores.
double bias(const Subject& subject, const LayerPlan& layer, int64_t i, int64_t j,
            int64_t n_queries) {
  const auto n_heads = static_cast<int64_t>(layer.slopes.size());
  const Turned still{zero_rows({1, n_heads, n_queries, 4}), zero_rows({1, n_heads, i + 1, 4})};
  const Rows weights = weights_of(subject, still, layer);
  return std::log(weights.at(0, 0, n_queries - 1, j) / weights.at(0, 0, n_queries - 1, i));
}

// meta-pytorch/attention-gym#86: slope .5, q 10, k 0.
TEST(Case34, TheFarKeyLosesFive) {
  LayerPlan layer;
  layer.slopes = {0.5};
  EXPECT_NEAR(bias(sound_subject(), layer, 10, 0, 11), -5.0, 1e-12);
  EXPECT_NEAR(bias(faulty_subject("bias-sign"), layer, 10, 0, 11), 5.0, 1e-12);
}

TEST(Case34, WithACacheAndScaledScoresToo) {
  LayerPlan layer;
  layer.slopes = {0.5, 0.125};
  layer.logit_scale = 3.0;  // scores are scaled, the bias is not
  EXPECT_NEAR(bias(sound_subject(), layer, 10, 0, 1), -5.0, 1e-12);
  EXPECT_NEAR(bias(sound_subject(), layer, 10, 7, 4), -1.5, 1e-12);
  EXPECT_NEAR(bias(faulty_subject("bias-scaled"), layer, 10, 0, 1), -2.5, 1e-12);  // by sqrt(4)
}

TEST(Case34, EveryHeadOfASchemeAndItsWindow) {
  const auto plan = sound_subject().plan("alibi", request_of(8, 4, 2));
  const Turned still{zero_rows({1, 4, 11, 8}), zero_rows({1, 2, 11, 8})};
  LayerPlan layer = plan.layers[0];
  layer.mask.window = 9;
  const Rows weights = weights_of(sound_subject(), still, layer);
  for (int64_t h = 0; h < 4; ++h) {
    const double slope = std::exp2(-2.0 * static_cast<double>(h + 1));  // 2^(-8h/4)
    EXPECT_NEAR(std::log(weights.at(0, h, 10, 2) / weights.at(0, h, 10, 10)), -8.0 * slope, 1e-12);
    EXPECT_EQ(weights.at(0, h, 10, 1), 0.0);
  }
}

/// softmax over seen keys of q.k / sqrt(D) + slope (j - origin), plain doubles.
std::vector<double> softmax_row(const Turned& raw, int64_t i, double slope, double origin,
                                const MaskSpec& mask) {
  std::vector<double> row(static_cast<size_t>(raw.k.n_tokens), 0.0);
  double sum = 0.0;
  for (int64_t j = 0; j <= i; ++j) {
    double dot = 0.0;
    for (int64_t d = 0; d < raw.q.head_dim; ++d) {
      dot += raw.q.at(0, 0, i, d) * raw.k.at(0, 0, j, d);
    }
    const double score = dot / std::sqrt(static_cast<double>(raw.q.head_dim)) +
                         slope * (static_cast<double>(j) - origin);
    row[static_cast<size_t>(j)] = mask.sees(i, j) ? std::exp(score) : 0.0;
    sum += row[static_cast<size_t>(j)];
  }
  for (double& each : row) {
    each /= sum;
  }
  return row;
}

double worst_of_row(const Rows& weights, int64_t i, const std::vector<double>& row) {
  double worst = 0.0;
  for (size_t j = 0; j < row.size(); ++j) {
    worst = std::max(worst, std::abs(weights.at(0, 0, i, static_cast<int64_t>(j)) - row[j]));
  }
  return worst;
}

struct Tensors {
  at::Tensor q, k, v;
};

struct Biased {
  Turned raw{normal_rows("case 35 q", {1, 1, 14, 8}), normal_rows("case 35 k", {1, 1, 14, 8})};
  LayerPlan layer;
  explicit Biased(const MaskSpec& mask) {
    layer.slopes = {0.25};
    layer.mask = mask;
  }
};

// vllm-project/vllm#945: slope (j - L) and slope (j - L + 1) are one softmax. No bug.
TEST(Case35, AConstantPerRowChangesNothing) {
  const Biased one{{}};
  const Rows weights = weights_of(sound_subject(), one.raw, one.layer);
  for (int64_t i = 0; i < 14; ++i) {
    for (const double origin : {14.0, 13.0, 0.0, static_cast<double>(i)}) {
      EXPECT_LE(worst_of_row(weights, i, softmax_row(one.raw, i, 0.25, origin, {})), 1e-14)
          << "query " << i << ", origin " << origin;
    }
  }
}

TEST(Case35, NorInAWindowOrInDecoding) {
  for (const MaskSpec& mask : {MaskSpec{.window = 5}, MaskSpec{.window = 3, .n_global = 2}}) {
    const Biased one(mask);
    const Rows weights =
        weights_of(sound_subject(), {tokens_of(one.raw.q, 13, 1), one.raw.k}, one.layer);
    for (const double origin : {14.0, 13.0}) {
      EXPECT_LE(worst_of_row(weights, 0, softmax_row(one.raw, 13, 0.25, origin, mask)), 1e-14);
    }
  }
}

TEST(Case35, AnotherSlopeIsNotAConstant) {
  const Biased one{{}};
  const Rows weights = weights_of(sound_subject(), one.raw, one.layer);
  EXPECT_GE(worst_of_row(weights, 13, softmax_row(one.raw, 13, 0.26, 13.0, {})), 1e-3);
  EXPECT_GE(worst_of_row(weights, 13, softmax_row(one.raw, 13, -0.25, 13.0, {})), 0.1);
}

// slope (j - L + 1) as a channel of its own: 1 in queries, the bias in keys.
at::Tensor with_bias_of_keys(const Subject& sound, const Tensors& x, LayerPlan layer) {
  const int64_t S = x.k.size(2), D = x.q.size(3), repeat = x.q.size(1) / x.k.size(1);
  const auto wide = std::sqrt(static_cast<double>(D + 1));
  const at::Tensor slopes = at::tensor(layer.slopes, at::kDouble).view({1, -1, 1, 1});
  const at::Tensor keys = at::arange(1 - S, 1, at::kDouble).view({1, 1, S, 1});
  const at::Tensor bias = (slopes * keys * wide).expand({x.q.size(0), -1, -1, -1});
  const at::Tensor one = at::full_like(x.q.narrow(3, 0, 1), 1.0 / layer.logit_scale);
  const at::Tensor q = at::cat({x.q * (wide / std::sqrt(static_cast<double>(D))), one}, 3);
  const at::Tensor k = at::cat({x.k.repeat_interleave(repeat, 1), bias}, 3);
  const at::Tensor v = x.v.repeat_interleave(repeat, 1);
  layer.slopes.clear();
  return sound.attention(q, k, at::cat({v, v.narrow(3, 0, 1)}, 3), layer).narrow(3, 0, D);
}

TEST(Case35, TheChecksOfABiasStaySilent) {
  Subject subject = sound_subject();
  subject.attention = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const LayerPlan& layer) {
    const Subject sound = sound_subject();
    return layer.slopes.empty() ? sound.attention(q, k, v, layer)
                                : with_bias_of_keys(sound, {q, k, v}, layer);
  };
  int64_t n_checks = 0;
  for (const Identity& identity : identities()) {
    if (identity.id == "bias-row-constant" || identity.id == "bias-scores") {
      const CheckResult result = identity.run(subject);
      EXPECT_TRUE(result.passed) << identity.id << ": " << result.where;
      EXPECT_FALSE(identity.run(faulty_subject("bias-scaled")).passed) << identity.id;
      ++n_checks;
    }
  }
  EXPECT_EQ(n_checks, 2);
}

}  // namespace
}  // namespace gyre::verify
