// The CUDA rotation kernels, run on the host thread by thread, against the CPU rotation in float64.
#include "gyre/attention/cuda/turning.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>

#include "gyre/attention/cuda/emulation_testing.h"
#include "gyre/attention/cuda/kernel_math.h"
#include "gyre/attention/fixtures.h"
#include "gyre/base/error.h"

namespace gyre::attention::cuda {
namespace {

using namespace attention::testing;
using position::PairLayout;

constexpr PairLayout kLayouts[] = {PairLayout::Halves, PairLayout::Interleaved};
constexpr at::ScalarType kTypes[] = {at::kDouble, at::kFloat, at::kBFloat16};

struct Case {
  Shape shape;
  int64_t n_pairs, n_bands;  // P, G of the table
};

// One unit per row and several, rows that cannot be moved 16 bytes at a time, more than one chunk
// of rows, single tokens, more units than a block is wide, grouped heads.
const Case kCases[] = {{{.B = 2, .H = 4, .G = 2, .T = 7, .S = 7, .D = 16}, 8, 2},
                       {{.B = 2, .H = 6, .G = 3, .T = 5, .S = 5, .D = 10}, 4, 1},
                       {{.B = 1, .H = 2, .G = 1, .T = 300, .S = 300, .D = 32}, 8, 1},
                       {{.B = 1, .H = 1, .G = 1, .T = 1, .S = 1, .D = 2}, 1, 1},
                       {{.B = 1, .H = 3, .G = 3, .T = 130, .S = 130, .D = 94}, 47, 3},
                       {{.B = 3, .H = 2, .G = 2, .T = 4, .S = 4, .D = 640}, 320, 2},
                       {{.B = 2, .H = 3, .G = 3, .T = 3, .S = 3, .D = 24}, 8, 3}};

// Distinct bands per group; pairs 1 and, where there are that many, 8..15 do not turn.
std::vector<std::vector<double>> bands(const Case& c) {
  std::vector<std::vector<double>> out;
  for (int64_t g = 0; g < c.n_bands; ++g) {
    auto& row = out.emplace_back();
    for (int64_t m = 0; m < c.n_pairs; ++m) {
      const double share = static_cast<double>(m) / static_cast<double>(c.n_pairs);
      const bool still = m == 1 || (m >= 8 && m < 16);
      row.push_back(still ? 0.0 : std::pow(50.0, -share) * (1.0 + 0.1 * static_cast<double>(g)));
    }
  }
  return out;
}

position::LayerPlan plain_layer() {
  position::LayerPlan layer;
  layer.amplitude = 1.25;
  return layer;
}

position::LayerPlan decayed_layer(const Case& c) {
  position::LayerPlan layer = plain_layer();
  for (int64_t m = 0; m < c.n_pairs; ++m) {
    layer.decay.push_back(m % 3 == 0 ? 0.0 : 0.01);
  }
  layer.query_growth = 0.3;
  layer.query_growth_floor = 4.0;
  return layer;
}

at::ScalarType table_type(at::ScalarType type) {
  return type == at::kDouble ? at::kDouble : at::kFloat;
}

at::Tensor positions_of(const Case& c) {
  return at::arange(3, 3 + c.shape.T, at::TensorOptions(at::kLong));
}

// Queries and keys as the model gives them: [B, T, heads, D] inside wider rows.
at::Tensor inside_rows(const at::Tensor& x_BHTD) {
  at::Tensor wide = at::empty({x_BHTD.size(0), x_BHTD.size(2), x_BHTD.size(1) + 1, x_BHTD.size(3)},
                              x_BHTD.options());
  at::Tensor part = wide.narrow(2, 1, x_BHTD.size(1)).transpose(1, 2);
  part.copy_(x_BHTD);
  return part;
}

struct Result {
  at::Tensor q, k, dq, dk, d_theta;
};

// Any loss of the rotated tensors does for the gradients: sum of rotated * weight.
template <class Rotate>
Result run(const Batch& batch, const at::Tensor& key_weight, const Case& c, Rotate&& rotate_with) {
  const at::Tensor q = inside_rows(batch.q).requires_grad_(),
                   k = inside_rows(batch.k).requires_grad_(),
                   theta = theta_tensor(bands(c)).requires_grad_();
  const auto [q_out, k_out] = rotate_with(q, k, theta);
  const at::Tensor loss = (q_out * batch.weight).sum() + (k_out * key_weight).sum();
  const auto grads = torch::autograd::grad({loss}, {q, k, theta});
  return {q_out.detach(), k_out.detach(), grads[0], grads[1], grads[2]};
}

Result emulated(const Batch& batch, const Case& c, PairLayout layout,
                const position::LayerPlan& layer) {
  const Backend& backend = testing::emulated_backend();
  return run(batch, batch.v, c, [&](const auto& q, const auto& k, const auto& theta) {
    return rotate(backend, q, k,
                  make_table(backend, theta, positions_of(c), layout, layer,
                             table_type(q.scalar_type()), std::nullopt));
  });
}

// The CPU rotation in float64, which its own tests compare with closed forms.
Result expected(const Batch& exact, const Case& c, PairLayout layout,
                const position::LayerPlan& layer) {
  return run(exact, exact.v, c, [&](const auto& q, const auto& k, const auto& theta) {
    const attention::Rotation table =
        attention::make_rotation(theta, positions_of(c), layout, layer, at::kDouble);
    // One call each: the gauge, which debug builds check on both gradients of a call, holds for
    // losses of scores, and this one is random.
    return std::pair(attention::rotate(q, k, table).first, attention::rotate(q, k, table).second);
  });
}

Batch in_double(const Batch& batch) {
  return {batch.q.to(at::kDouble), batch.k.to(at::kDouble), batch.v.to(at::kDouble),
          batch.weight.to(at::kDouble)};
}

// Rounding of one rotation: of products of order 5, and of the result once.
struct Tolerance {
  double absolute, relative;
};
Tolerance tolerance(at::ScalarType type) {
  return type == at::kDouble  ? Tolerance{1e-13, 0}
         : type == at::kFloat ? Tolerance{5e-6, 0}
                              : Tolerance{1e-5, 0x1p-8};
}

void expect_close(const Result& actual, const Result& wanted, Tolerance t, double theta_atol,
                  const std::string& what) {
  expect_near(actual.q.to(at::kDouble), wanted.q, t.absolute, t.relative, what + " q");
  expect_near(actual.k.to(at::kDouble), wanted.k, t.absolute, t.relative, what + " k");
  expect_near(actual.dq.to(at::kDouble), wanted.dq, t.absolute, t.relative, what + " dq");
  expect_near(actual.dk.to(at::kDouble), wanted.dk, t.absolute, t.relative, what + " dk");
  expect_near(actual.d_theta, wanted.d_theta, theta_atol, 0, what + " dtheta");
}

void check_all(const std::function<position::LayerPlan(const Case&)>& layer_of) {
  const OneThread quick;
  for (const Case& c : kCases) {
    for (const PairLayout layout : kLayouts) {
      for (const at::ScalarType type : kTypes) {
        const Batch batch = random_batch(c.shape, 5, type);
        const Result actual = emulated(batch, c, layout, layer_of(c));
        const Result wanted = expected(in_double(batch), c, layout, layer_of(c));
        const Tolerance t = tolerance(type);
        const auto T = static_cast<double>(c.shape.T);
        // Sums of B H T terms of order position: errors add like a random walk.
        const double terms = std::sqrt(static_cast<double>(c.shape.B * c.shape.H) * T);
        expect_close(
            actual, wanted, t, (t.absolute + 5 * t.relative) * 4 * terms * (T + 3),
            str("D ", c.shape.D, " ", c10::toString(type), " ", position::layout_name(layout)));
      }
    }
  }
}

TEST(CudaTurning, EqualsTheCpuRotationWithItsGradients) {
  check_all([](const Case&) { return plain_layer(); });
}

TEST(CudaTurning, EqualsTheCpuRotationWithDecayAndGrowth) {
  check_all(decayed_layer);
}

TEST(CudaTurning, CopiesPairsThatDoNotTurnBitForBit) {
  const Case& c = kCases[5];  // P = 320, pairs 1 and 8..15 have theta 0
  for (const at::ScalarType type : kTypes) {
    Batch batch = random_batch(c.shape, 6, type);
    const Result actual = emulated(batch, c, PairLayout::Halves, plain_layer());
    for (const int64_t m : {1, 8, 15}) {
      for (const int64_t channel : {m, m + c.n_pairs}) {
        EXPECT_TRUE(at::equal(actual.q.select(3, channel), batch.q.select(3, channel)));
        EXPECT_TRUE(at::equal(actual.dk.select(3, channel), batch.v.select(3, channel)));
      }
    }
  }
}

TEST(CudaTurning, ReadsTableAndGainOfTheCpu) {
  const Case& c = kCases[0];
  const position::LayerPlan layer = decayed_layer(c);
  const at::Tensor theta = theta_tensor(bands(c));
  for (const bool decayed : {false, true}) {
    position::LayerPlan mine = layer;
    if (!decayed) {
      mine.decay.clear();
    }
    const Rotation a = make_table(testing::emulated_backend(), theta, positions_of(c),
                                  PairLayout::Halves, mine, at::kDouble, std::nullopt);
    const Rotation b =
        attention::make_rotation(theta, positions_of(c), PairLayout::Halves, mine, at::kDouble);
    expect_near(a.cos, b.cos, 1e-15, 0, "cos");
    expect_near(a.sin, b.sin, 1e-15, 0, "sin");
    expect_near(a.key_cos, b.key_cos, 1e-15, 0, "key cos");
    expect_near(a.query_gain, b.query_gain, 1e-15, 0, "gain");
    EXPECT_EQ(a.decay.defined(), b.decay.defined());
  }
}

TEST(CudaTurning, GrowsQueriesWithoutARotation) {
  const Case& c = kCases[0];
  position::LayerPlan layer;
  layer.query_growth = 0.5;
  layer.query_growth_floor = 2.0;
  const Batch batch = random_batch(c.shape, 7);
  const Rotation table = make_table(testing::emulated_backend(), {}, positions_of(c),
                                    PairLayout::Unstated, layer, at::kDouble, std::nullopt);
  const auto [q, k] = rotate(testing::emulated_backend(), batch.q, batch.k, table);
  const auto expected_q = attention::rotate(
      batch.q, batch.k,
      attention::make_rotation({}, positions_of(c), PairLayout::Unstated, layer, at::kDouble));
  expect_near(q, expected_q.first, 1e-14, 0, "q");
  EXPECT_TRUE(at::equal(k, batch.k));
}

TEST(CudaTurning, TheSumsOfARunAreThoseOfItsRepetition) {
  const Case& c = kCases[2];
  const Batch batch = random_batch(c.shape, 8, at::kBFloat16);
  const Result a = emulated(batch, c, PairLayout::Halves, plain_layer());
  const Result b = emulated(batch, c, PairLayout::Halves, plain_layer());
  EXPECT_TRUE(at::equal(a.d_theta, b.d_theta));
}

TEST(CudaTurning, UsesWidePacksWhereTheyFit) {
  const Sizes even{1, 1, 1, 64, 32};
  alignas(16) char memory[64] = {};
  const View fitting{memory, 64, 64, 64}, odd_stride{memory, 64, 64, 60},
      odd{memory + 2, 64, 64, 64};
  EXPECT_TRUE(vectorises(even, 8, 2, fitting, fitting, {}));
  EXPECT_FALSE(vectorises(even, 8, 2, fitting, odd_stride, {}));
  EXPECT_FALSE(vectorises(even, 8, 2, odd, fitting, {}));
  EXPECT_FALSE(vectorises({1, 1, 1, 64, 30}, 8, 2, fitting, fitting, {}));
}

}  // namespace
}  // namespace gyre::attention::cuda
