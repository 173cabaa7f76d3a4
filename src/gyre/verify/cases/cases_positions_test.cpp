// Reports 37, 39, 40 and 41: positions of padded and packed rows, and tables found by their length.
#include <ATen/ops/tensor.h>

#include "gyre/verify/cases/cases_testing.h"

namespace gyre::verify {
namespace {

using position::PositionPlan;
using Positions = std::vector<int64_t>;

constexpr int64_t kDim = 16;

Keyed random_rows(int64_t n_tokens, int64_t n_heads = 1) {
  const Shape shape{1, n_heads, n_tokens, kDim};
  return {normal_rows("positions q", shape), normal_rows("positions k", shape),
          normal_rows("positions v", shape)};
}

PositionPlan plan_of_spec(const std::string& spec, int64_t n_heads = 1) {
  return sound_subject().plan(spec, request_of(kDim, n_heads, n_heads));
}

/// One row of tokens at these positions through rotation and attention.
Rows output(const Keyed& raw, const Positions& positions, const PositionPlan& plan) {
  const Subject sound = sound_subject();
  const Turned turned = rotated(sound, {raw.q, raw.k}, positions, plan);
  return attended(sound, {turned.q, turned.k, raw.v}, plan.layers[0]);
}

Keyed part(const Keyed& raw, int64_t first, int64_t n) {
  return {tokens_of(raw.q, first, n), tokens_of(raw.k, first, n), tokens_of(raw.v, first, n)};
}

// unslothai/unsloth#3699, transformers#22161: mask 0 0 1 1 1, then decoding.
TEST(Case37, ARowCountsItsOwnTokens) {
  const auto real = [](const Subject& subject) {
    const Positions all = subject.padded_positions({0, 0, 1, 1, 1}, 2);
    return Positions(all.begin() + 2, all.end());
  };
  EXPECT_EQ(real(sound_subject()), (Positions{0, 1, 2, 3, 4}));
  EXPECT_EQ(real(faulty_subject("shared-padding-counter")), (Positions{0, 1, 2, 5, 6}));
}

TEST(Case37, AnOffsetOfAllIsHarmlessAGapIsNot) {
  const Keyed raw = random_rows(4);
  for (const char* spec : {"rope", "rope:layout=interleaved", "prope:p=0.5", "yarn:factor=4"}) {
    const PositionPlan plan = plan_of_spec(spec);
    const Rows alone = output(raw, {0, 1, 2, 3}, plan);
    EXPECT_LE(max_difference(output(raw, {2, 3, 4, 5}, plan), alone), 1e-13) << spec;
    EXPECT_GE(max_difference(output(raw, {0, 1, 2, 5}, plan), alone), 1e-3) << spec;
  }
}

TEST(Case37, RowsOfABatchAgreeWithThemselvesAlone) {
  // Three rows of one width with 0, 2 and 5 padding tokens, each with its own table.
  for (const int64_t n_padding : {0, 2, 5}) {
    Positions row(static_cast<size_t>(n_padding), 0);
    row.insert(row.end(), static_cast<size_t>(8 - n_padding), 1);
    const Positions all = sound_subject().padded_positions(row, 3);
    const int64_t n = 11 - n_padding;
    const Keyed raw = random_rows(n);
    const PositionPlan plan = plan_of_spec("rope");
    const Rows batched = output(raw, Positions(all.begin() + n_padding, all.end()), plan);
    EXPECT_EQ(max_difference(batched, output(raw, count_from(0, n), plan)), 0.0) << n_padding;
  }
}

TEST(Case37, WhereQueriesGrowWithPositionEvenAnOffsetCounts) {
  position::LayerPlan layer;
  layer.query_growth = 0.1;
  layer.query_growth_floor = 2.0;
  const auto gains = [&](const Positions& positions) {
    const auto rotation = attention::make_rotation(
        {}, at::tensor(positions, at::kLong), position::PairLayout::Halves, layer, at::kDouble);
    return rotation.query_gain;
  };
  const at::Tensor own = gains({0, 1, 2, 3}), offset = gains({2, 3, 4, 5});
  for (int64_t t = 0; t < 4; ++t) {
    const double step = std::floor(static_cast<double>(t + 1) / 2.0);
    EXPECT_NEAR(own[t].item<double>(), 1.0 + 0.1 * std::log(1.0 + step), 1e-15) << t;
    EXPECT_GT(offset[t].item<double>(), own[t].item<double>()) << t;
  }
}

// lucidrains/rotary-embedding-torch#11: same tensor, offset 0 then 4.
TEST(Case39, AnotherOffsetGivesOtherRows) {
  const PositionPlan plan = plan_of_spec("rope");
  const Rows x = normal_rows("case 39", {1, 1, 6, kDim});
  const auto moved = [&](const Subject& subject) {
    const Rows zero = rotated(subject, {x, x}, count_from(0, 6), plan).q;
    return max_difference(zero, rotated(subject, {x, x}, count_from(4, 6), plan).q);
  };
  EXPECT_GE(moved(sound_subject()), 0.1);
  EXPECT_EQ(moved(faulty_subject("table-without-offset")), 0.0);
}

TEST(Case39, EachOffsetHasItsOwnAngles) {
  const Subject sound = sound_subject();
  const PositionPlan plan = plan_of_spec("rope");
  for (const int64_t first : {0, 4, 0, 1000}) {
    EXPECT_LE(table_error(sound, plan, count_from(first, 6), true), 1e-13) << first;
  }
  EXPECT_LE(table_error(sound, plan, {9, 2, 2, 70, 0}, true), 1e-13);  // in any order
}

TEST(Case39, SoHasEachBaseAmplitudeAndLayer) {
  // Another place where a key by length alone hides: layers with two bases (Gemma 3), one length.
  const Subject sound = sound_subject();
  position::PlanRequest request = request_of(kDim);
  request.n_layers = 6;
  const PositionPlan plan = sound.plan("gemma3", request);
  const Rows x = normal_rows("case 39", {1, 1, 6, kDim});
  const auto positions = count_from(3, 6);
  const Rows local = rotated(sound, {x, x}, positions, plan, 0).q;
  const Rows global = rotated(sound, {x, x}, positions, plan, 5).q;
  EXPECT_GE(max_difference(local, global), 0.1);
  EXPECT_EQ(max_difference(local, rotated(sound, {x, x}, positions, plan, 4).q), 0.0);
  PositionPlan louder = plan;
  louder.layers[0].amplitude = 1.5;
  Rows expected = local;
  for (double& each : expected.values) {
    each *= 1.5;
  }
  EXPECT_LE(max_difference(rotated(sound, {x, x}, positions, louder, 0).q, expected), 1e-14);
}

// pegainfer#220, vllm#55910: a table of 4096 rows, position 4096, admitted length 40960.
TEST(Case40, Position4096HasItsOwnAngle) {
  const PositionPlan plan = plan_of_spec("rope:base=1000000");
  const Positions positions{4095, 4096, 4097, 40959};
  EXPECT_LE(table_error(sound_subject(), plan, positions, true), 1e-13);
  EXPECT_LE(table_error(sound_subject(), plan, positions, false), 6.1e-8);
  const TableRows wrapped = table_rows(faulty_subject("table-too-short"), plan, {4096});
  EXPECT_EQ(wrapped.cos[0], std::vector<double>(8, 1.0));  // row 0 again
}

TEST(Case40, SoHaveAllSchemesAndFarPositions) {
  for (const char* spec : {"yarn:factor=10,original=4096", "llama3:original=8192", "ntk:factor=4",
                           "longrope:original=4096,max=131072"}) {
    const PositionPlan plan = plan_at_length(spec, kDim, 131072);
    EXPECT_LE(table_error(sound_subject(), plan, {4096, 8192, 131071, 1000000}, true), 1e-12)
        << spec;
  }
}

TEST(Case40, AScoreAcrossTheEndOfAUsualTableIsThatOfItsDistance) {
  const PositionPlan plan = plan_of_spec("rope:base=1000000");
  const Keyed raw = random_rows(8);
  const Rows here = output(raw, count_from(0, 8), plan);
  EXPECT_LE(max_difference(output(raw, count_from(4092, 8), plan), here), 1e-11);
  EXPECT_LE(max_difference(output(raw, count_from(40952, 8), plan), here), 1e-10);
}

TEST(Case40, WhatATableCannotHoldIsRefused) {
  const PositionPlan plan = plan_of_spec("xpos");
  const at::Tensor theta =
      at::tensor(bands_of(plan), at::kDouble).view({1, static_cast<int64_t>(kDim / 2)});
  try {
    attention::make_rotation(theta, at::tensor(Positions{0, 100000}, at::kLong), plan.layout,
                             plan.layers[0], at::kFloat);
    FAIL() << "no error";
  } catch (const c10::ValueError& error) {
    const std::string text = error.what_without_backtrace();
    EXPECT_NE(text.find("over 50000 tokens leaves the range of Float"), std::string::npos) << text;
  }
}

// OpenRLHF#587, nanoVLM#201: lengths 3, 2. Documents under a mask of their own: chunks of 3.
Rows packed(const Keyed& raw, const Positions& positions, PositionPlan plan, int64_t chunk) {
  plan.layers[0].mask.chunk = chunk;
  return output(raw, positions, plan);
}

TEST(Case41, UnderRotationTheRestartChangesNothing) {
  const Keyed raw = random_rows(5);
  for (const char* spec : {"rope", "prope:p=0.5", "yarn:factor=4", "alibi"}) {
    const PositionPlan plan = plan_of_spec(spec);
    const Rows restarted = packed(raw, {0, 1, 2, 0, 1}, plan, 3);
    EXPECT_LE(max_difference(packed(raw, {0, 1, 2, 3, 4}, plan, 3), restarted), 1e-13) << spec;
    // And each document is what it is alone.
    EXPECT_LE(max_difference(output(part(raw, 0, 3), {0, 1, 2}, plan), tokens_of(restarted, 0, 3)),
              1e-13)
        << spec;
    EXPECT_LE(max_difference(output(part(raw, 3, 2), {0, 1}, plan), tokens_of(restarted, 3, 2)),
              1e-13)
        << spec;
  }
}

TEST(Case41, TheMaskDoes) {
  const Keyed raw = random_rows(5);
  for (const char* spec : {"rope", "alibi"}) {
    const PositionPlan plan = plan_of_spec(spec);
    const Rows masked = packed(raw, {0, 1, 2, 0, 1}, plan, 3);
    EXPECT_GE(max_difference(packed(raw, {0, 1, 2, 3, 4}, plan, 0), masked), 1e-2) << spec;
    EXPECT_GE(max_difference(packed(raw, {0, 1, 2, 0, 1}, plan, 0), masked), 1e-2) << spec;
  }
}

TEST(Case41, TheRestartCountsWhereTheAbsolutePositionOrTheLengthDoes) {
  position::LayerPlan layer;
  layer.query_growth = 0.1;
  layer.query_growth_floor = 2.0;
  const auto last_gain = [&](const Positions& positions) {
    return attention::make_rotation({}, at::tensor(positions, at::kLong),
                                    position::PairLayout::Halves, layer, at::kDouble)
        .query_gain[4]
        .item<double>();
  };
  EXPECT_NEAR(last_gain({0, 1, 2, 0, 1}), 1.0 + 0.1 * std::log(2.0), 1e-15);
  EXPECT_NEAR(last_gain({0, 1, 2, 3, 4}), 1.0 + 0.1 * std::log(3.0), 1e-15);
  // Dynamic tables: by the document's 3 tokens, not by the row's 5.
  const char* spec = "dynamic:factor=2,original=4";
  EXPECT_EQ(plan_at_length(spec, kDim, 3), plan_at_length(spec, kDim, 2));
  EXPECT_NE(bands_of(plan_at_length(spec, kDim, 3)), bands_of(plan_at_length(spec, kDim, 5)));
}

}  // namespace
}  // namespace gyre::verify
