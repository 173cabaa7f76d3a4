// Rotation: tables, identities of RoPE, and the linear-cost frequency gradient against autograd,
// central differences and the closed form over pairs.
#include "gyre/attention/rotation.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <cstring>
#include <functional>

#include "gyre/attention/attention.h"
#include "gyre/attention/fixtures.h"

namespace gyre::attention {
namespace {

using namespace testing;
using position::PairLayout;

constexpr PairLayout kLayouts[] = {PairLayout::Halves, PairLayout::Interleaved};

at::Tensor positions(int64_t T, int64_t origin = 0) {
  return at::arange(origin, origin + T, at::TensorOptions(at::kLong));
}

// Distinct bands per group, one of them 0.
std::vector<std::vector<double>> bands(int64_t G, int64_t P) {
  std::vector<std::vector<double>> out;
  for (int64_t g = 0; g < G; ++g) {
    out.emplace_back();
    for (int64_t m = 0; m < P; ++m) {
      const double theta = std::pow(50.0, -static_cast<double>(m) / static_cast<double>(P));
      out.back().push_back(m == 1 ? 0.0 : theta * (1.0 + 0.1 * static_cast<double>(g)));
    }
  }
  return out;
}

// The loss of every gradient test: attention over rotated queries and keys.
struct Gradient {
  at::Tensor loss, q, k, theta;
};

Gradient ours(const Batch& batch, const at::Tensor& theta, const position::LayerPlan& layer,
              PairLayout layout, int64_t origin = 0) {
  const at::Tensor q = batch.q.clone().requires_grad_(), k = batch.k.clone().requires_grad_(),
                   t = theta.clone().requires_grad_();
  const auto table = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  const Rotation rotation =
      make_rotation(t, positions(q.size(2), origin), layout, layer.amplitude, table);
  const auto [qr, kr] = rotate(q, k, rotation);
  const at::Tensor loss = (attention(qr, kr, batch.v, layer) * batch.weight).sum();
  const auto grads = torch::autograd::grad({loss}, {q, k, t});
  return {loss, grads[0], grads[1], grads[2]};
}

Gradient composite(const Batch& batch, const at::Tensor& theta, const position::LayerPlan& layer,
                   PairLayout layout) {
  const at::Tensor q = batch.q.clone().requires_grad_(), k = batch.k.clone().requires_grad_(),
                   t = theta.clone().requires_grad_();
  const at::Tensor p = positions(q.size(2));
  const at::Tensor out =
      composite_attention(composite_rotate(q, t, p, layout, layer.amplitude),
                          composite_rotate(k, t, p, layout, layer.amplitude), batch.v, layer);
  const at::Tensor loss = (out * batch.weight).sum();
  const auto grads = torch::autograd::grad({loss}, {q, k, t});
  return {loss, grads[0], grads[1], grads[2]};
}

TEST(Rotation, EqualsComplexMultiplication) {
  // R01: (x + i y) e^{i pos theta}, by std::complex in double.
  for (const PairLayout layout : kLayouts) {
    const Shape shape{.B = 2, .H = 4, .G = 2, .T = 7, .S = 7, .D = 10};
    const Batch batch = random_batch(shape, 3);
    const auto theta = bands(2, 4);  // 8 of 10 channels rotate
    const Rotation rotation =
        make_rotation(theta_tensor(theta), positions(7, 100), layout, 1.25, at::kDouble);
    const auto [q, k] = rotate(batch.q, batch.k, rotation);
    const ReferenceTensor in = to_reference(batch.q), out = to_reference(q);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t h = 0; h < 4; ++h) {
        for (int64_t t = 0; t < 7; ++t) {
          for (int64_t m = 0; m < 4; ++m) {
            const bool halves = layout == PairLayout::Halves;
            const int64_t x = halves ? m : 2 * m, y = halves ? m + 4 : 2 * m + 1;
            const double angle = static_cast<double>(100 + t) *
                                 theta[static_cast<size_t>(h / 2)][static_cast<size_t>(m)];
            const double amplitude = m == 1 ? 1.0 : 1.25;
            const double ex =
                in.at(b, h, t, x) * std::cos(angle) - in.at(b, h, t, y) * std::sin(angle);
            const double ey =
                in.at(b, h, t, x) * std::sin(angle) + in.at(b, h, t, y) * std::cos(angle);
            ASSERT_NEAR(out.at(b, h, t, x), amplitude * ex, 1e-12);
            ASSERT_NEAR(out.at(b, h, t, y), amplitude * ey, 1e-12);
          }
          ASSERT_EQ(out.at(b, h, t, 8), in.at(b, h, t, 8));
          ASSERT_EQ(out.at(b, h, t, 9), in.at(b, h, t, 9));
        }
      }
    }
  }
}

TEST(Rotation, StaysWithinAMillionthOfFloat64InFloat32) {
  const OneThread quick;
  // R01's figure for float32 at positions of a training sequence.
  const Batch batch = random_batch({.B = 1, .H = 2, .G = 2, .T = 512, .S = 512, .D = 64}, 4);
  const at::Tensor theta = theta_tensor(bands(1, 32));
  for (const PairLayout layout : kLayouts) {
    const auto exact = rotate(batch.q.to(at::kFloat).to(at::kDouble), batch.k,
                              make_rotation(theta, positions(512), layout, 1.0, at::kDouble))
                           .first;
    const auto fast = rotate(batch.q.to(at::kFloat), batch.k.to(at::kFloat),
                             make_rotation(theta, positions(512), layout, 1.0, at::kFloat))
                          .first;
    EXPECT_LE(max_difference(fast, exact), 1e-6);
  }
}

TEST(Rotation, RoundsBfloat16OnceAtTheEnd) {
  // Twice the error of rounding the exact result to bfloat16 (half a unit: 2^-9 relative).
  const Batch batch =
      random_batch({.B = 2, .H = 3, .G = 3, .T = 19, .S = 19, .D = 12}, 5, at::kBFloat16);
  const at::Tensor theta = theta_tensor(bands(3, 5));
  for (const PairLayout layout : kLayouts) {
    const auto exact = rotate(batch.q.to(at::kDouble), batch.k.to(at::kDouble),
                              make_rotation(theta, positions(19), layout, 1.0, at::kDouble))
                           .first;
    const auto fast =
        rotate(batch.q, batch.k, make_rotation(theta, positions(19), layout, 1.0, at::kFloat))
            .first;
    const double rounding = max_difference(exact.to(at::kBFloat16), exact);
    EXPECT_EQ(fast.scalar_type(), at::kBFloat16);
    EXPECT_LE(max_difference(fast, exact), 1.01 * rounding);
  }
}

TEST(Rotation, CopiesAnUnrotatedPairBitForBit) {
  Batch batch = random_batch({.B = 1, .H = 1, .G = 1, .T = 3, .S = 3, .D = 6}, 6, at::kFloat);
  batch.q.slice(3, 0, 6, 3).fill_(-0.0);  // a product with 1 and 0 could turn it into +0
  const Rotation none = make_rotation(at::zeros({1, 3}, at::kDouble), positions(3),
                                      PairLayout::Halves, 1.5, at::kFloat);
  const auto [q, k] = rotate(batch.q, batch.k, none);
  EXPECT_EQ(0, std::memcmp(q.const_data_ptr(), batch.q.const_data_ptr(), q.nbytes()));
  EXPECT_EQ(0, std::memcmp(k.const_data_ptr(), batch.k.const_data_ptr(), k.nbytes()));
}

TEST(Rotation, IsTheIdentityWithoutATable) {
  const Batch batch = random_batch({}, 7);
  const Rotation none = make_rotation({}, positions(5), PairLayout::Halves, 1.0, at::kDouble);
  const auto [q, k] = rotate(batch.q, batch.k, none);
  EXPECT_TRUE(none.identity());
  EXPECT_TRUE(q.is_same(batch.q) && k.is_same(batch.k));
}

TEST(Rotation, ScoresDependOnDistanceAlone) {
  const OneThread quick;
  // P02: (R_m q).(R_n k) = q.(R_{n-m} k), to 1e-12 for positions up to 10^6.
  for (const PairLayout layout : kLayouts) {
    const Batch batch = random_batch({.B = 1, .H = 2, .G = 2, .T = 6, .S = 6, .D = 8}, 8);
    const at::Tensor theta = theta_tensor(bands(1, 4));
    const auto scores = [&](int64_t origin) {
      const auto [q, k] = rotate(
          batch.q, batch.k, make_rotation(theta, positions(6, origin), layout, 1.0, at::kDouble));
      return at::matmul(q, k.transpose(2, 3));
    };
    EXPECT_LE(max_difference(scores(0), scores(1000)), 1e-12);
    EXPECT_LE(max_difference(scores(0), scores(1'000'000)), 1e-12);
  }
}

TEST(Rotation, WorkedPhaseAtDistance32) {
  // Numbers of the field report: cos(32 theta) for theta = 1, 0.1, 0.01.
  const Rotation table = make_rotation(theta_tensor({{1.0, 0.1, 0.01}}), positions(33),
                                       PairLayout::Halves, 1.0, at::kDouble);
  const double expected[] = {0.834, -0.998, 0.949};
  for (int64_t m = 0; m < 3; ++m) {
    EXPECT_NEAR(table.cos[0][32][m].item<double>(), expected[m], 5e-4);
  }
}

TEST(Rotation, GradientsEqualAutogradOfTheCompositeForm) {
  const OneThread quick;
  // L12: the linear-cost form against torch's autograd through a broadcast table, float64.
  for (const PairLayout layout : kLayouts) {
    for (const int64_t G : {1, 2}) {
      for (const int64_t groups : {int64_t{1}, G}) {
        const Batch batch = random_batch({.B = 2, .H = 4, .G = G, .T = 21, .S = 21, .D = 12}, 9);
        position::LayerPlan layer;
        layer.slopes = {0.1, 0.2, 0.3, 0.4};
        layer.logit_scale = 1.3;
        auto theta = bands(groups, 5);
        layer.inv_freq = theta;
        const Gradient a = ours(batch, theta_tensor(theta), layer, layout);
        const Gradient b = composite(batch, theta_tensor(theta), layer, layout);
        expect_near(a.q, b.q, 1e-12, 0, "dq");
        expect_near(a.k, b.k, 1e-12, 0, "dk");
        expect_near(a.theta, b.theta, 1e-10, 1e-12, "dtheta");
      }
    }
  }
}

TEST(Rotation, GradientEqualsTheClosedFormOverPairs) {
  const OneThread quick;
  // equations: ds_ij/dtheta_m = -scale (i-j) Im[q_m k_m* e^{i(i-j)theta_m}], in the reference.
  const Batch batch = random_batch({.B = 2, .H = 4, .G = 2, .T = 15, .S = 15, .D = 8}, 10);
  for (const PairLayout layout : kLayouts) {
    position::LayerPlan layer;
    layer.inv_freq = bands(2, 4);
    layer.mask = {6, 1, 1};
    const Gradient a = ours(batch, theta_tensor(layer.inv_freq), layer, layout);
    const ReferenceGradient b =
        reference_gradient(reference_input(batch, layer, layout), to_reference(batch.weight));
    expect_near(a.q, from_reference(b.q), 1e-12, 0, "dq");
    expect_near(a.k, from_reference(b.k), 1e-12, 0, "dk");
    expect_near(a.theta, theta_tensor(b.inv_freq), 1e-10, 1e-12, "dtheta");
  }
}

TEST(Rotation, GradientEqualsCentralDifferences) {
  const OneThread quick;
  // Sixth-order central difference: truncation (h * distance)^6 / 140 and rounding 1e-14 / h are
  // both below 1e-10.
  const Batch batch = random_batch({.B = 1, .H = 2, .G = 1, .T = 9, .S = 9, .D = 8}, 12);
  position::LayerPlan layer;
  const at::Tensor theta = theta_tensor({{0.9, 0.3, 0.1, 0.03}});
  const Gradient a = ours(batch, theta, layer, PairLayout::Halves);
  const double h = 1e-3;
  for (int64_t m = 0; m < 4; ++m) {
    const auto loss = [&](double step) {
      at::Tensor moved = theta.clone();
      moved[0][m] += step;
      return ours(batch, moved, layer, PairLayout::Halves).loss.item<double>();
    };
    const auto pair = [&](int64_t n) {
      return loss(static_cast<double>(n) * h) - loss(-static_cast<double>(n) * h);
    };
    const double slope = (45 * pair(1) - 9 * pair(2) + pair(3)) / (60 * h);
    const double exact = a.theta[0][m].item<double>();
    EXPECT_NEAR(exact, slope, 1e-10 * std::max(1.0, std::abs(slope))) << "band " << m;
  }
}

TEST(Rotation, OriginOfPositionsDoesNotMatterInFloat64) {
  const Batch batch = random_batch({.B = 2, .H = 2, .G = 2, .T = 12, .S = 12, .D = 8}, 13);
  const at::Tensor theta = theta_tensor(bands(1, 4));
  const Gradient a = ours(batch, theta, {}, PairLayout::Halves, 0);
  const Gradient b = ours(batch, theta, {}, PairLayout::Halves, 1000);
  expect_near(b.theta, a.theta, 1e-9, 1e-9);
}

TEST(Rotation, ADistantOriginSpoilsTheFrequencyGradientInBfloat16) {
  // Why callers pass positions relative to the sequence: rounded gradients satisfy the translation
  // gauge only roughly, and the origin multiplies the error.
  const Batch batch =
      random_batch({.B = 2, .H = 2, .G = 2, .T = 96, .S = 96, .D = 16}, 14, at::kBFloat16);
  const Batch exact{batch.q.to(at::kDouble), batch.k.to(at::kDouble), batch.v.to(at::kDouble),
                    batch.weight.to(at::kDouble)};
  const at::Tensor theta = theta_tensor(bands(1, 8));
  const at::Tensor truth = ours(exact, theta, {}, PairLayout::Halves).theta;
  const auto error = [&](int64_t origin) {
    const at::Tensor d = ours(batch, theta, {}, PairLayout::Halves, origin).theta;
    return ((d - truth).norm() / truth.norm()).item<double>();
  };
  EXPECT_LE(error(0), 0.03);
  EXPECT_GE(error(30000), 5 * error(0));
}

TEST(Rotation, FrequencyGradientDoesNotDependOnThreads) {
  const Batch batch =
      random_batch({.B = 3, .H = 4, .G = 2, .T = 40, .S = 40, .D = 16}, 15, at::kFloat);
  const at::Tensor theta = theta_tensor(bands(2, 8));
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  const Gradient one = ours(batch, theta, {}, PairLayout::Halves);
  at::set_num_threads(2);
  const Gradient two = ours(batch, theta, {}, PairLayout::Halves);
  at::set_num_threads(before);
  EXPECT_TRUE(at::equal(one.theta, two.theta));
  EXPECT_TRUE(at::equal(one.q, two.q));
}

TEST(Rotation, AcceptsViewsOfAProjection) {
  // Queries and keys as a model makes them: slices of [B, T, (H + G) D], permuted.
  const Batch all = random_batch({.B = 2, .H = 3, .G = 3, .T = 6, .S = 6, .D = 8}, 16, at::kFloat);
  const at::Tensor joint = at::arange(2 * 6 * 6 * 8, at::kFloat).view({2, 6, 6, 8}).sin();
  const at::Tensor q = joint.narrow(2, 0, 3).transpose(1, 2),
                   k = joint.narrow(2, 3, 3).transpose(1, 2);
  const Rotation table = make_rotation(theta_tensor(bands(1, 4)), positions(6),
                                       PairLayout::Interleaved, 1.0, at::kFloat);
  const auto from_view = rotate(q, k, table);
  const auto from_copy = rotate(q.contiguous(), k.contiguous(), table);
  EXPECT_TRUE(at::equal(from_view.first, from_copy.first));
  EXPECT_TRUE(at::equal(from_view.second, from_copy.second));
}

#ifndef NDEBUG
TEST(Rotation, DebugBuildsRefuseALossThatSeesAbsolutePositions) {
  const Batch batch = random_batch({}, 17);
  const at::Tensor q = batch.q.clone().requires_grad_();
  const Rotation table =
      make_rotation(theta_tensor(bands(1, 4)), positions(5), PairLayout::Halves, 1.0, at::kDouble);
  const auto [qr, kr] = rotate(q, batch.k, table);
  const at::Tensor loss = (qr * batch.weight).sum() + kr.sum();
  try {
    torch::autograd::grad({loss}, {q});
    FAIL() << "the gauge check let an absolute loss pass";
  } catch (const c10::Error& e) {
    EXPECT_NE(std::string(e.what()).find("translation gauge violated"), std::string::npos);
  }
}
#endif

TEST(Rotation, RefusesWhatDoesNotFit) {
  const Batch b = random_batch({.B = 2, .H = 4, .G = 2, .T = 5, .S = 5, .D = 8}, 18);
  const auto table = [](int64_t G, int64_t P, int64_t T) {
    return make_rotation(theta_tensor(bands(G, P)), positions(T), PairLayout::Halves, 1.0,
                         at::kDouble);
  };
  expect_value_error([&] { rotate(b.q, b.k, table(1, 5, 5)); },
                     "q has 8 channels per head, the table rotates 10");
  expect_value_error([&] { rotate(b.q, b.k, table(1, 4, 6)); },
                     "q has 5 tokens, the table has 6 positions");
  expect_value_error([&] { rotate(b.q, b.k, table(4, 4, 5)); },
                     "the table has 4 groups, k has 2 heads; use 1 or one per key/value head");
  expect_value_error([&] { rotate(b.k, b.q, table(1, 4, 5)); },
                     "2 query heads are no multiple of 4 key/value heads");
  expect_value_error([&] { rotate(b.q.to(at::kFloat), b.k.to(at::kFloat), table(1, 4, 5)); },
                     "q is Float, its table must be Float, got Double");
  expect_value_error([&] { rotate(b.q, b.k.to(at::kFloat), table(1, 4, 5)); }, "k is Float");
  expect_value_error([&] { rotate(b.q.to(at::kHalf), b.k, table(1, 4, 5)); },
                     "q must be float64, float32 or bfloat16, got Half");
  expect_value_error([&] { rotate(b.q[0], b.k, table(1, 4, 5)); },
                     "q must be [B, heads, T, D], got [4, 5, 8]");
  expect_value_error([&] { rotate(b.q.narrow(0, 0, 1), b.k, table(1, 4, 5)); }, "q and k differ");
  expect_value_error(
      [&] {
        make_rotation(at::zeros({3}, at::kDouble), positions(5), PairLayout::Halves, 1, at::kFloat);
      },
      "theta must be [G, P] float64, got [3]");
  expect_value_error(
      [&] {
        make_rotation(at::zeros({1, 3}, at::kDouble), at::zeros({5}), PairLayout::Halves, 1,
                      at::kFloat);
      },
      "positions must be [T] int64");
  expect_value_error(
      [&] {
        make_rotation(at::zeros({1, 3}, at::kDouble), positions(5), PairLayout::Halves, 1,
                      at::kHalf);
      },
      "a table is float32 or float64, got Half");
}

}  // namespace
}  // namespace gyre::attention
