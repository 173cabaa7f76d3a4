// Decay and query growth: against the float64 reference, over long sequences, and their messages.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/ones.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>

#include "gyre/attention/attention.h"
#include "gyre/attention/fixtures.h"

namespace gyre::attention {
namespace {

using namespace testing;
using position::PairLayout;

at::Tensor positions(int64_t T, int64_t first = 0) {
  return at::arange(first, first + T, at::TensorOptions(at::kLong));
}

// Everything a layer can hold; the second pair decays without turning.
position::LayerPlan full_layer(int64_t groups) {
  position::LayerPlan layer;
  layer.inv_freq.assign(static_cast<size_t>(groups), {1.0, 0.0, 0.2, 0.03});
  layer.inv_freq.back()[2] = 0.25;
  layer.amplitude = 1.2;
  layer.decay = {0.05, 0.01, 0.0, 0.002};
  layer.query_growth = 0.2;
  layer.query_growth_floor = 3.0;
  return layer;
}

TEST(RotationTable, DecayAndGrowthEqualTheReference) {
  const OneThread quick;
  for (const PairLayout layout : {PairLayout::Halves, PairLayout::Interleaved}) {
    for (const int64_t groups : {1, 2}) {
      const Batch batch = random_batch({.B = 2, .H = 4, .G = 2, .T = 17, .S = 17, .D = 10}, 51);
      const position::LayerPlan layer = full_layer(groups);
      const at::Tensor q = batch.q.clone().requires_grad_(), k = batch.k.clone().requires_grad_(),
                       theta = theta_tensor(layer.inv_freq).requires_grad_();
      const Rotation table = make_rotation(theta, positions(17), layout, layer, at::kDouble);
      const auto [qr, kr] = rotate(q, k, table);
      const at::Tensor out = attention(qr, kr, batch.v, layer);
      const auto grads = torch::autograd::grad({(out * batch.weight).sum()}, {q, k, theta});
      const ReferenceInput input = reference_input(batch, layer, layout);
      const ReferenceGradient d = reference_gradient(input, to_reference(batch.weight));
      expect_near(out, from_reference(reference_attention(input)), 1e-12, 0, "out");
      expect_near(grads[0], from_reference(d.q), 1e-12, 0, "dq");
      expect_near(grads[1], from_reference(d.k), 1e-12, 0, "dk");
      expect_near(grads[2], theta_tensor(d.inv_freq), 1e-10, 1e-12, "dtheta");
    }
  }
}

TEST(RotationTable, DecayedScoresFallByDistanceInLongSequences) {
  // exp(-0.002 (i - j)), in float32, for keys at both ends of 30,000 tokens: 60 nats.
  position::LayerPlan layer;
  layer.inv_freq = {{0.0, 0.0}};
  layer.decay = {0.002, 0.0};
  const int64_t T = 30'000;
  const at::Tensor theta = theta_tensor(layer.inv_freq);
  const at::Tensor ones = at::ones({1, 1, T, 4}, at::kFloat);
  const auto [q, k] =
      rotate(ones, ones, make_rotation(theta, positions(T), PairLayout::Halves, layer, at::kFloat));
  const at::Tensor scores = at::matmul(q.narrow(2, T - 1, 1), k.transpose(2, 3)).flatten();
  for (const int64_t j : {int64_t{0}, T / 2, T - 1000, T - 1}) {
    const double expected = 2.0 + 2.0 * std::exp(-0.002 * static_cast<double>(T - 1 - j));
    EXPECT_NEAR(scores[j].item<double>(), expected, 1e-4) << j;
  }
}

TEST(RotationTable, TheOriginDoesNotMatter) {
  const Batch batch = random_batch({.B = 1, .H = 2, .G = 2, .T = 9, .S = 9, .D = 8}, 52);
  const position::LayerPlan layer = full_layer(1);
  const auto scores = [&](std::optional<int64_t> origin) {
    const auto [q, k] = rotate(batch.q, batch.k,
                               make_rotation(theta_tensor(layer.inv_freq), positions(9, 40),
                                             PairLayout::Halves, layer, at::kDouble, origin));
    return at::matmul(q, k.transpose(2, 3));
  };
  expect_near(scores(0), scores(std::nullopt), 1e-11, 1e-13);
  expect_near(scores(100), scores(std::nullopt), 1e-11, 1e-13);
}

TEST(RotationTable, QueriesGrowWithPositionEvenWithoutRotation) {
  // By hand: growth 0.1, floor 4: positions 0..2 times 1, 3..6 times 1 + 0.1 ln 2, 7 .. 1 + 0.1
  // ln 3.
  position::LayerPlan layer;
  layer.query_growth = 0.1;
  layer.query_growth_floor = 4.0;
  const Rotation table = make_rotation({}, positions(8), PairLayout::Halves, layer, at::kFloat);
  EXPECT_FALSE(table.identity());
  for (const auto dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const Batch batch = random_batch({.B = 1, .H = 1, .G = 1, .T = 8, .S = 8, .D = 4}, 53, dtype);
    const auto [q, k] = rotate(batch.q, batch.k, table);
    EXPECT_TRUE(k.is_same(batch.k));
    EXPECT_EQ(q.scalar_type(), dtype);
    const double factor[] = {1,
                             1,
                             1,
                             1.0693147180559945,
                             1.0693147180559945,
                             1.0693147180559945,
                             1.0693147180559945,
                             1.1098612288668110};
    const double rounding = dtype == at::kDouble ? 1e-15 : dtype == at::kFloat ? 2e-7 : 4e-3;
    for (int64_t t = 0; t < 8; ++t) {
      expect_near(q.select(2, t), batch.q.select(2, t).to(at::kDouble) * factor[t], 0, rounding);
    }
  }
}

// Of a table with everything in it: decay by position, growing queries.
TEST(RotationTable, LastRowsAreThoseOfTheirOwnPositions) {
  position::LayerPlan layer;
  layer.inv_freq = {{0.5, 0.1}};
  layer.decay = {0.01, 0.02};
  layer.query_growth = 0.1;
  layer.query_growth_floor = 2.0;
  const auto make = [&](const at::Tensor& at_positions) {
    return make_rotation(theta_tensor(layer.inv_freq), at_positions, PairLayout::Halves, layer,
                         at::kDouble, 0);
  };
  const Rotation last = last_rows(make(positions(8)), 3);
  const Rotation want = make(positions(8).narrow(0, 5, 3));
  EXPECT_TRUE(last.positions.equal(want.positions));
  EXPECT_TRUE(last.query_gain.equal(want.query_gain));
  expect_near(last.cos, want.cos, 1e-15, 0);
  expect_near(last.sin, want.sin, 1e-15, 0);
  expect_near(last.key_cos, want.key_cos, 1e-15, 0);
  expect_near(last.key_sin, want.key_sin, 1e-15, 0);
}

TEST(RotationTable, RefusesADecayThatLeavesTheRange) {
  position::LayerPlan layer;
  layer.inv_freq = {{0.5}};
  layer.decay = {0.01};
  const auto make = [&](int64_t T, at::ScalarType dtype) {
    make_rotation(theta_tensor(layer.inv_freq), positions(T), PairLayout::Halves, layer, dtype, 0);
  };
  make(8000, at::kFloat);
  make(60'000, at::kDouble);
  expect_value_error([&] { make(8002, at::kFloat); },
                     "a decay of 0.01 nats per token over 8001 tokens leaves the range of Float; "
                     "use shorter sequences or a slower decay");
  layer.decay = {0.1, 0.1};
  expect_value_error([&] { make(8, at::kFloat); }, "2 decays for 1 pairs");
}

}  // namespace
}  // namespace gyre::attention
