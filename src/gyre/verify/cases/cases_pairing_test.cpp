// Reports 22, 23, 24 and 26: which channels form a pair, and how often they turn.
#include <numbers>

#include "gyre/verify/cases/cases_testing.h"

namespace gyre::verify {
namespace {

using position::PairLayout;
using position::PositionPlan;

const std::vector<size_t> kToInterleaved{0, 4, 1, 5, 2, 6, 3, 7};  // row order of D 8, as reported
const std::vector<size_t> kToHalves{0, 2, 4, 6, 1, 3, 5, 7};

PositionPlan rope(int64_t head_dim, PairLayout layout) {
  return sound_subject().plan(layout == PairLayout::Halves ? "rope:base=10000,layout=halves"
                                                           : "rope:base=10000,layout=interleaved",
                              request_of(head_dim));
}

std::vector<double> permuted(const std::vector<double>& row, const std::vector<size_t>& order) {
  std::vector<double> out = row;
  for (size_t i = 0; i < order.size(); ++i) {
    out[i] = row[order[i]];
  }
  return out;
}

/// The leading order.size() channels of every row.
Rows permuted(const Rows& rows, const std::vector<size_t>& order) {
  Rows out = rows;
  const auto width = static_cast<size_t>(rows.head_dim);
  for (size_t first = 0; first < rows.values.size(); first += width) {
    for (size_t i = 0; i < order.size(); ++i) {
      out.values[first + i] = rows.values[first + order[i]];
    }
  }
  return out;
}

std::vector<double> turned_row(const Subject& subject, const std::vector<double>& row,
                               int64_t position, const PositionPlan& plan) {
  const Rows x = repeated(row, 1);
  return rotated(subject, {x, x}, {position}, plan).q.values;
}

// One unit of the last digit: two of the eight printed numbers are cut there, not rounded.
void expect_printed(const std::vector<double>& actual, const std::vector<double>& printed) {
  ASSERT_EQ(actual.size(), printed.size());
  for (size_t i = 0; i < actual.size(); ++i) {
    EXPECT_NEAR(actual[i], printed[i], 1e-6) << "channel " << i;
  }
}

struct Gap {
  double same_token = 0.0, apart = 0.0;  // largest difference of a score at distance 0, and >= 1
};

Gap score_gap(const Turned& a, const Turned& b) {
  const auto left = dots(a.q, a.k), right = dots(b.q, b.k);
  Gap gap;
  for (size_t i = 0; i < left.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double& worst = i == j ? gap.same_token : gap.apart;
      worst = std::max(worst, std::abs(left[i][j] - right[i][j]));
    }
  }
  return gap;
}

Turned random_rows(int64_t head_dim) {
  return {normal_rows("pairing cases q", {1, 1, 9, head_dim}),
          normal_rows("pairing cases k", {1, 1, 9, head_dim})};
}

const std::vector<double> kHalves{-1.984111, 1.959901, 2.462378, 4.019800};
const std::vector<double> kInterleaved{-1.142640, 1.922075, 2.959851, 4.029799};

// rasbt/LLMs-from-scratch#750, ooples/AiDotNet#2074, InternLM/lmdeploy#2639
TEST(Case22, OneQueryUnderBothLayouts) {
  const std::vector<double> q{1.0, 2.0, 3.0, 4.0};
  const Subject sound = sound_subject();
  expect_printed(turned_row(sound, q, 1, rope(4, PairLayout::Halves)), kHalves);
  const auto inter = turned_row(sound, q, 1, rope(4, PairLayout::Interleaved));
  expect_printed(inter, kInterleaved);
  EXPECT_NEAR(inter[1], std::sin(1.0) + 2.0 * std::cos(1.0), 1e-15);
  EXPECT_NEAR(inter[3], 3.0 * std::sin(0.01) + 4.0 * std::cos(0.01), 1e-15);
}

TEST(Case22, TheFaultGivesTheOtherNumbers) {
  const std::vector<double> q{1.0, 2.0, 3.0, 4.0};
  const Subject faulty = faulty_subject("wrong-pairing");
  expect_printed(turned_row(faulty, q, 1, rope(4, PairLayout::Halves)), kInterleaved);
  expect_printed(turned_row(faulty, q, 1, rope(4, PairLayout::Interleaved)), kHalves);
}

TEST(Case22, TheRowOrdersTurnOneLayoutIntoTheOther) {
  const std::vector<double> x{0.3, -1.2, 2.0, 0.7, -0.4, 1.1, 0.9, -2.2};
  EXPECT_EQ(permuted(permuted(x, kToInterleaved), kToHalves), x);
  const Subject sound = sound_subject();
  for (const int64_t position : {1, 77}) {
    const auto halves = turned_row(sound, x, position, rope(8, PairLayout::Halves));
    const auto inter =
        turned_row(sound, permuted(x, kToInterleaved), position, rope(8, PairLayout::Interleaved));
    for (size_t i = 0; i < 8; ++i) {
      EXPECT_NEAR(inter[i], permuted(halves, kToInterleaved)[i], 1e-15) << i;
      EXPECT_NEAR(permuted(inter, kToHalves)[i], halves[i], 1e-15) << i;
    }
  }
}

TEST(Case22, APartlyRotatedHeadReordersItsRotatedChannelsOnly) {
  // GPT-NeoX and GLM: 8 of 16 channels. Halves of the whole head would pair 0 with 8.
  const Subject sound = sound_subject();
  const auto halves = sound.plan("partial:fraction=0.5,layout=halves", request_of(16));
  const auto inter = sound.plan("partial:fraction=0.5,layout=interleaved", request_of(16));
  const Turned raw = random_rows(16);
  const auto positions = count_from(3, 9);
  const Rows a = permuted(rotated(sound, raw, positions, halves).q, kToInterleaved);
  const Turned moved{permuted(raw.q, kToInterleaved), permuted(raw.k, kToInterleaved)};
  EXPECT_LE(max_difference(rotated(sound, moved, positions, inter).q, a), 1e-14);
  const Rows over_head = rotated(faulty_subject("pairs-over-head"), raw, positions, halves).q;
  EXPECT_GE(max_difference(permuted(over_head, kToInterleaved), a), 0.1);
}

// mattn/tensai#57: a layer without rotation hides a missed permutation.
void expect_hidden_in_layer_3_alone(const std::string& spec) {
  position::PlanRequest request = request_of(8);
  request.n_layers = 4;
  const Subject sound = sound_subject();
  const PositionPlan plan = sound.plan(spec, request);
  const Turned raw = random_rows(8);
  const Turned moved{permuted(raw.q, kToInterleaved), permuted(raw.k, kToInterleaved)};
  const auto positions = count_from(0, 9);
  for (int64_t n = 0; n < 4; ++n) {
    const Gap gap = score_gap(rotated(sound, raw, positions, plan, n),
                              rotated(sound, moved, positions, plan, n));
    EXPECT_LE(gap.same_token, 1e-13) << spec << ", layer " << n;
    if (n == 3) {
      EXPECT_LE(gap.apart, 1e-13) << spec;
    } else {
      EXPECT_GE(gap.apart, 0.1) << spec << ", layer " << n;
    }
  }
}

TEST(Case23, OnlyARotatingLayerAtADistanceShowsAMissedPermutation) {
  expect_hidden_in_layer_3_alone("nope_every:interval=4,base=2000000,layout=halves");
}

TEST(Case23, TheSameInTheOtherLayoutAndFamily) {
  expect_hidden_in_layer_3_alone("nope_every:interval=4,layout=interleaved");
  expect_hidden_in_layer_3_alone("irope:interval=4");
}

TEST(Case23, ABiasAloneHidesItEverywhere) {
  const Subject sound = sound_subject();
  const PositionPlan plan = sound.plan("alibi", request_of(8));
  const Turned raw = random_rows(8);
  const Turned moved{permuted(raw.q, kToInterleaved), permuted(raw.k, kToInterleaved)};
  const Rows a = weights_of(sound, raw, plan.layers[0]);
  EXPECT_LE(max_difference(weights_of(sound, moved, plan.layers[0]), a), 1e-14);
  // One side alone shows in any layer.
  EXPECT_GE(max_difference(weights_of(sound, {raw.q, moved.k}, plan.layers[0]), a), 0.01);
}

// NVIDIA/TensorRT-LLM#16378: gpt-oss, position 10, k 0.
PositionPlan gpt_oss() {
  return sound_subject().plan("yarn:base=150000,factor=32,original=4096,truncate=false",
                              request_of(64));
}

struct Polar {
  double radius, angle;
};

Polar pair_0(const Subject& subject) {
  const PositionPlan plan = gpt_oss();
  Rows unit = zero_rows({1, 1, 1, 64});
  unit.at(0, 0, 0, 0) = 1.0;
  const Rows out = rotated(subject, {unit, unit}, {10}, plan).q;
  const double x = out.at(0, 0, 0, x_channel(plan, 0)), y = out.at(0, 0, 0, y_channel(plan, 0));
  return {std::hypot(x, y), std::atan2(y, x)};
}

TEST(Case24, TurnsOnceByTenRadians) {
  const Polar once = pair_0(sound_subject());
  EXPECT_NEAR(once.angle, 10.0 - 4.0 * std::numbers::pi, 1e-14);
  EXPECT_TRUE(rounds_to(once.radius, "1.346573590"));
}

TEST(Case24, TwiceIsTwentyRadiansAndTheSquare) {
  const Polar twice = pair_0(faulty_subject("double-rotation"));
  EXPECT_NEAR(twice.angle, 20.0 - 6.0 * std::numbers::pi, 1e-14);
  EXPECT_TRUE(rounds_to(twice.radius, "1.813260434"));
  const Polar squared = pair_0(faulty_subject("amplitude-squared"));
  EXPECT_TRUE(rounds_to(squared.radius, "1.813260434"));
  EXPECT_NEAR(squared.angle, 10.0 - 4.0 * std::numbers::pi, 1e-14);
}

TEST(Case24, TheWrongPairingFlagLeavesTheRightChannelStill) {
  const PositionPlan plan = gpt_oss();
  std::vector<double> unit(64, 0.0);
  unit[0] = 1.0;
  const auto right = turned_row(sound_subject(), unit, 10, plan);
  const auto wrong = turned_row(faulty_subject("wrong-pairing"), unit, 10, plan);
  EXPECT_NEAR(right[32], 1.3465735902799727 * std::sin(10.0), 1e-14);  // 1 + 0.1 ln 32
  EXPECT_EQ(right[1], 0.0);
  EXPECT_NEAR(wrong[1], 1.3465735902799727 * std::sin(10.0), 1e-14);
  EXPECT_EQ(wrong[32], 0.0);
}

TEST(Case24, DeepSeeksCorrectionIsOnTheScaleAloneAndOnce) {
  const auto plan = sound_subject().plan(
      "yarn:factor=40,original=4096,mscale=1,mscale_all_dim=1,mla=true", request_of(64));
  const double m = 1.0 + 0.1 * std::log(40.0);
  EXPECT_EQ(plan.layers[0].amplitude, 1.0);
  EXPECT_NEAR(plan.layers[0].logit_scale, m * m, 1e-15);
  // Two keys whose scores differ by s: the log of their weights differs by s m^2 / sqrt(D).
  Rows q = zero_rows({1, 1, 1, 64}), k = zero_rows({1, 1, 2, 64});
  q.at(0, 0, 0, 0) = 2.0;
  k.at(0, 0, 0, 0) = 1.5;
  const Rows weights = weights_of(sound_subject(), {q, k}, plan.layers[0]);
  EXPECT_NEAR(std::log(weights.at(0, 0, 0, 0) / weights.at(0, 0, 0, 1)), 3.0 * m * m / 8.0, 1e-14);
}

// transformers#39687: the two codes "differ", their scores do not.
TEST(Case26, ScoresAgreeWhenBothSidesArePermuted) {
  const Subject sound = sound_subject();
  const Turned raw = random_rows(8);
  const auto positions = count_from(0, 9);
  const Turned a = rotated(sound, raw, positions, rope(8, PairLayout::Halves));
  const Turned b =
      rotated(sound, {permuted(raw.q, kToInterleaved), permuted(raw.k, kToInterleaved)}, positions,
              rope(8, PairLayout::Interleaved));
  EXPECT_GE(max_difference(a.q, b.q), 0.1);  // the channels do differ
  EXPECT_LE(score_gap(a, b).apart, 1e-13);
  EXPECT_LE(score_gap(a, b).same_token, 1e-13);
}

TEST(Case26, TheyDoNotWhenOneSideIs) {
  const Subject sound = sound_subject();
  const Turned raw = random_rows(8);
  const auto positions = count_from(0, 9);
  const Turned a = rotated(sound, raw, positions, rope(8, PairLayout::Halves));
  const auto inter = rope(8, PairLayout::Interleaved);
  const Turned q_only = rotated(sound, {permuted(raw.q, kToInterleaved), raw.k}, positions, inter);
  const Turned k_only = rotated(sound, {raw.q, permuted(raw.k, kToInterleaved)}, positions, inter);
  EXPECT_GE(score_gap(a, q_only).apart, 0.1);
  EXPECT_GE(score_gap(a, k_only).apart, 0.1);
}

TEST(Case26, OutputsOfGroupedHeadsAgreeWithTheReference) {
  // Four query heads on two key heads, window and amplitude: fast path in one layout, plain loops
  // in the other.
  const Keyed raw{normal_rows("grouped q", {1, 4, 11, 8}), normal_rows("grouped k", {1, 2, 11, 8}),
                  normal_rows("grouped v", {1, 2, 11, 8})};
  PositionPlan inter = rope(8, PairLayout::Interleaved);
  inter.layers[0].amplitude = 1.2;
  inter.layers[0].mask.window = 6;
  const auto positions = count_from(0, 11);
  const Rows expected = attention::reference_attention(
      {permuted(raw.q, kToInterleaved), permuted(raw.k, kToInterleaved), raw.v, positions,
       positions, PairLayout::Interleaved, inter.layers[0]});
  PositionPlan halves = inter;
  halves.layout = PairLayout::Halves;
  const Subject sound = sound_subject();
  const Turned turned = rotated(sound, {raw.q, raw.k}, positions, halves);
  EXPECT_LE(
      max_difference(attended(sound, {turned.q, turned.k, raw.v}, halves.layers[0]), expected),
      1e-13);
}

}  // namespace
}  // namespace gyre::verify
