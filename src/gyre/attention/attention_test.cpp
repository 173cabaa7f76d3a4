// Attention against the float64 reference for every mask with and without bias: outputs, gradients.
#include "gyre/attention/attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/eye.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <functional>
#include <limits>

#include "gyre/attention/fixtures.h"

namespace gyre::attention {
namespace {

using namespace testing;

struct Case {
  std::string name;
  Shape shape;
  position::MaskSpec mask;
  bool biased = false;
};

position::LayerPlan layer_of(const Case& one) {
  position::LayerPlan layer;
  layer.mask = one.mask;
  layer.logit_scale = 0.9;
  for (int64_t h = 0; one.biased && h < one.shape.H; ++h) {
    layer.slopes.push_back(0.5 / static_cast<double>(1 + h));
  }
  return layer;
}

position::LayerPlan layer_with(std::vector<double> slopes, position::MaskSpec mask) {
  position::LayerPlan layer;
  layer.slopes = std::move(slopes);
  layer.mask = mask;
  return layer;
}

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, Shape>> shapes = {
      {"square", {.B = 2, .H = 3, .G = 3, .T = 33, .S = 33, .D = 8}},
      {"one token", {.B = 1, .H = 2, .G = 2, .T = 1, .S = 1, .D = 8}},
      {"one head", {.B = 1, .H = 1, .G = 1, .T = 17, .S = 17, .D = 6}},
      {"grouped", {.B = 2, .H = 6, .G = 2, .T = 13, .S = 13, .D = 16}},
      {"continued", {.B = 1, .H = 4, .G = 2, .T = 9, .S = 40, .D = 8}},
      {"one step", {.B = 2, .H = 2, .G = 1, .T = 1, .S = 29, .D = 8}},
      {"two blocks", {.B = 1, .H = 2, .G = 1, .T = 70, .S = 70, .D = 4}}};
  const std::vector<std::pair<std::string, position::MaskSpec>> masks = {
      {"full", {}},
      {"window 1", {1, 1, 0}},
      {"window 7", {7, 1, 0}},
      {"wide", {500, 1, 0}},
      {"dilated", {3, 4, 0}},
      {"global", {4, 1, 3}},
      {"mixed", {2, 5, 2}},
      {"all global", {2, 1, 60}},
      {"chunk", {0, 1, 0, 6}},
      {"chunk and global", {0, 1, 3, 8}},
      {"one chunk", {0, 1, 0, 500}}};
  std::vector<Case> out;
  for (const auto& [shape_name, shape] : shapes) {
    for (const auto& [mask_name, mask] : masks) {
      for (const bool biased : {false, true}) {
        out.push_back(
            {shape_name + ", " + mask_name + (biased ? ", biased" : ""), shape, mask, biased});
      }
    }
  }
  return out;
}

struct Outcome {
  at::Tensor out, q, k, v;
};

template <class Attend>
Outcome run(const Batch& batch, const Attend& attend) {
  const at::Tensor q = batch.q.clone().requires_grad_(), k = batch.k.clone().requires_grad_(),
                   v = batch.v.clone().requires_grad_();
  const at::Tensor out = attend(q, k, v);
  const auto grads = torch::autograd::grad({(out * batch.weight).sum()}, {q, k, v});
  return {out, grads[0], grads[1], grads[2]};
}

Outcome reference(const Batch& batch, const position::LayerPlan& layer) {
  const ReferenceInput input = reference_input(batch, layer, position::PairLayout::Halves);
  const ReferenceGradient d = reference_gradient(input, to_reference(batch.weight));
  return {from_reference(reference_attention(input)), from_reference(d.q), from_reference(d.k),
          from_reference(d.v)};
}

TEST(Attention, EqualsTheReferenceInFloat64) {
  const OneThread quick;
  for (const Case& one : cases()) {
    const Batch batch = random_batch(one.shape, 11);
    const position::LayerPlan layer = layer_of(one);
    const Outcome expected = reference(batch, layer);
    const Outcome actual = run(batch, [&](const auto& q, const auto& k, const auto& v) {
      return attention(q, k, v, layer);
    });
    // 1e-12: sums of at most 150 terms of order 1 in float64.
    expect_near(actual.out, expected.out, 1e-12, 0, one.name + ": out");
    expect_near(actual.q, expected.q, 1e-12, 0, one.name + ": dq");
    expect_near(actual.k, expected.k, 1e-12, 0, one.name + ": dk");
    expect_near(actual.v, expected.v, 1e-12, 0, one.name + ": dv");
  }
}

TEST(Attention, EqualsTheReferenceOverSeveralBlocksOfBiasedRows) {
  // Above 512 keys a biased layer goes in blocks of 128 rows; 517 = 4 blocks and 5 rows.
  const OneThread quick;
  const Batch batch = random_batch({.B = 1, .H = 2, .G = 1, .T = 517, .S = 517, .D = 2}, 20);
  const position::LayerPlan layer = layer_with({0.02, 0.3}, {});
  const Outcome expected = reference(batch, layer);
  const Outcome actual = run(batch, [&](const auto& q, const auto& k, const auto& v) {
    return attention(q, k, v, layer);
  });
  expect_near(actual.out, expected.out, 1e-12, 0, "out");
  expect_near(actual.q, expected.q, 1e-12, 0, "dq");
  expect_near(actual.k, expected.k, 1e-11, 0, "dk");
  expect_near(actual.v, expected.v, 1e-11, 0, "dv");
}

// style: max|kernel - ref| <= 2 max|torch same dtype - ref| + 1e-6. The whole suite of cases is one
// population for bfloat16, where a single small case can be exact by luck in torch's form.
struct Errors {
  double out = 0, q = 0, k = 0, v = 0;
  void raise(const Outcome& a, const Outcome& b) {
    out = std::max(out, max_difference(a.out, b.out));
    q = std::max(q, max_difference(a.q, b.q));
    k = std::max(k, max_difference(a.k, b.k));
    v = std::max(v, max_difference(a.v, b.v));
  }
};

void expect_within_twice_torch(at::ScalarType dtype, const std::string& shape) {
  Errors ours, torch_errors;
  for (const Case& one : cases()) {
    if (!one.name.starts_with(shape)) {
      continue;
    }
    const Batch batch = random_batch(one.shape, 12, dtype);
    const position::LayerPlan layer = layer_of(one);
    const Outcome expected = reference(batch, layer);
    ours.raise(run(batch, [&](const auto& q, const auto& k,
                              const auto& v) { return attention(q, k, v, layer); }),
               expected);
    torch_errors.raise(
        run(batch, [&](const auto& q, const auto& k,
                       const auto& v) { return composite_attention(q, k, v, layer); }),
        expected);
  }
  EXPECT_LE(ours.out, 2 * torch_errors.out + 1e-6) << shape;
  EXPECT_LE(ours.q, 2 * torch_errors.q + 1e-6) << shape;
  EXPECT_LE(ours.k, 2 * torch_errors.k + 1e-6) << shape;
  EXPECT_LE(ours.v, 2 * torch_errors.v + 1e-6) << shape;
}

constexpr const char* kShapes[] = {"square",    "one token", "one head",  "grouped",
                                   "continued", "one step",  "two blocks"};

TEST(Attention, Float32IsWithinTwiceTorchsError) {
  const OneThread quick;
  for (const char* shape : kShapes) {
    expect_within_twice_torch(at::kFloat, shape);
  }
}

TEST(Attention, Bfloat16IsWithinTwiceTorchsError) {
  const OneThread quick;
  for (const char* shape : kShapes) {
    expect_within_twice_torch(at::kBFloat16, shape);
  }
}

TEST(Attention, MasksElementByElementAsMaskSpecSees) {
  const OneThread quick;
  // Values are one-hot rows, so output (i, j) is the weight of key j: > 0 exactly where seen.
  const int64_t S = 24;
  for (const int64_t T : {S, int64_t{7}}) {
    for (const Case& one : cases()) {
      position::LayerPlan layer;
      layer.mask = one.mask;
      const Batch batch = random_batch({.B = 1, .H = 1, .G = 1, .T = T, .S = S, .D = S}, 13);
      const at::Tensor one_hot = at::eye(S, at::kDouble).view({1, 1, S, S});
      const at::Tensor weights = attention(batch.q, batch.k, one_hot, layer);
      for (int64_t t = 0; t < T; ++t) {
        for (int64_t j = 0; j < S; ++j) {
          const double weight = weights[0][0][t][j].item<double>();
          ASSERT_EQ(weight > 0, layer.mask.sees(S - T + t, j)) << one.name << " " << t << " " << j;
        }
      }
      ASSERT_NEAR(weights.sum().item<double>(), static_cast<double>(T), 1e-10);
    }
  }
}

TEST(Attention, OneTokenReturnsItsValue) {
  const Batch batch =
      random_batch({.B = 2, .H = 4, .G = 2, .T = 1, .S = 1, .D = 8}, 14, at::kFloat);
  const at::Tensor out = attention(batch.q, batch.k, batch.v, {});
  expect_near(out, batch.v.repeat_interleave(2, 1), 1e-6);
}

TEST(Attention, ContinuationEqualsTheLastRowsOfTheWhole) {
  const OneThread quick;
  for (const Case& one : cases()) {
    const position::LayerPlan layer = layer_of(one);
    const Shape shape{.B = 1, .H = one.shape.H, .G = one.shape.G, .T = 37, .S = 37, .D = 8};
    const Batch batch = random_batch(shape, 15);
    const at::Tensor whole = attention(batch.q, batch.k, batch.v, layer);
    const at::Tensor last = attention(batch.q.narrow(2, 30, 7), batch.k, batch.v, layer);
    expect_near(last, whole.narrow(2, 30, 7), 1e-12, 0, one.name);
  }
}

TEST(Attention, WithoutPositionsARepeatedTokenGetsAtMostHalf) {
  // Proposition 5.2, arXiv:2410.06205: on [bos, x, x] a head without positions has a_33 = a_32.
  Batch batch = random_batch({.B = 1, .H = 1, .G = 1, .T = 3, .S = 3, .D = 3}, 16);
  batch.k[0][0][2].copy_(batch.k[0][0][1]);
  batch.q[0][0][2].copy_(3 * batch.k[0][0][1]);
  const at::Tensor weights =
      attention(batch.q, batch.k, at::eye(3, at::kDouble).view({1, 1, 3, 3}), {})[0][0][2];
  EXPECT_DOUBLE_EQ(weights[1].item<double>(), weights[2].item<double>());
  EXPECT_LT(weights[2].item<double>(), 0.5);
}

TEST(Attention, BiasIsNotScaledAndAddsSlopeTimesDistance) {
  // Press et al.: softmax(q.k / sqrt(D) + m (j - i)). With q = 0 the weights are the bias alone.
  position::LayerPlan layer;
  layer.slopes = {0.25};
  layer.logit_scale = 3.0;
  const at::Tensor q = at::zeros({1, 1, 4, 4}, at::kDouble);
  const at::Tensor weights = attention(q, q, at::eye(4, at::kDouble).view({1, 1, 4, 4}), layer);
  const double ratio = weights[0][0][3][0].item<double>() / weights[0][0][3][3].item<double>();
  EXPECT_NEAR(std::log(ratio), -0.75, 1e-12);
}

TEST(Attention, SavesNothingWithoutGradients) {
  const Batch batch = random_batch({}, 17, at::kFloat);
  const at::Tensor q = batch.q.clone().requires_grad_();
  const at::NoGradGuard no_grad;
  EXPECT_FALSE(attention(q, batch.k, batch.v, {}).requires_grad());
}

TEST(Attention, AcceptsAnyStride) {
  const Batch batch = random_batch({.B = 2, .H = 3, .G = 3, .T = 9, .S = 9, .D = 6}, 18);
  const auto strided = [](const at::Tensor& x) {
    return x.permute({3, 1, 0, 2}).contiguous().permute({2, 1, 3, 0});
  };
  const position::LayerPlan layer = layer_with({0.1, 0.2, 0.3}, {4, 1, 1});
  expect_near(attention(strided(batch.q), strided(batch.k), strided(batch.v), layer),
              attention(batch.q, batch.k, batch.v, layer), 1e-14);
}

TEST(Attention, RefusesWhatDoesNotFit) {
  const Batch b = random_batch({.B = 2, .H = 4, .G = 2, .T = 5, .S = 7, .D = 8}, 19);
  const auto expect = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                         const position::LayerPlan& layer, const std::string& text) {
    expect_value_error([&] { attention(q, k, v, layer); }, text);
  };
  expect(b.q[0], b.k, b.v, {}, "q must be [B, H, T, D] and k [B, G, S, D], got [4, 5, 8]");
  expect(b.q, b.k, b.v.narrow(2, 0, 5), {}, "k and v differ: [2, 2, 7, 8] and [2, 2, 5, 8]");
  expect(b.q.to(at::kHalf), b.k, b.v, {}, "q must be float64, float32 or bfloat16, got Half");
  expect(b.q, b.k.to(at::kFloat), b.v, {}, "must have one dtype, got Double, Float and Double");
  expect(b.q.narrow(0, 0, 1), b.k, b.v, {}, "q and k differ in batch or head dim");
  expect(b.q.narrow(1, 0, 3), b.k, b.v, {}, "3 query heads are no multiple of 2 key/value heads");
  expect(b.q, b.k.narrow(2, 0, 4), b.v.narrow(2, 0, 4), {},
         "5 queries need at least as many keys and at least one, got 4");
  expect(b.q, b.k, b.v, layer_with({0.5}, {}), "1 slopes for 4 query heads");
  expect(b.q, b.k, b.v, layer_with({}, {4, 0, 0}),
         "mask has window 4, dilation 0, global tokens 0");
  expect(b.q, b.k, b.v, layer_with({}, {4, 1, 0, 8}),
         "mask has chunk 8 and window 4; use one of them");
}

// A NaN is no key that nobody sees: it must show, in every type.
TEST(Attention, ANanKeyShowsInEveryQueryThatSeesItAndInNoOther) {
  const OneThread quick;
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat, at::kBFloat16}) {
    const Batch batch =
        random_batch({.B = 1, .H = 1, .G = 1, .T = 150, .S = 150, .D = 16}, 60, dtype);
    batch.k[0][0][70].fill_(std::numeric_limits<double>::quiet_NaN());
    for (const bool biased : {false, true}) {
      position::LayerPlan layer;
      layer.slopes = biased ? std::vector<double>{1.0} : std::vector<double>{};
      for (const Isa level : usable_isas()) {
        const AtLevel at_level(level);
        const at::Tensor out = attention(batch.q, batch.k, batch.v, layer)[0][0];
        EXPECT_TRUE(out.narrow(0, 0, 70).isfinite().all().item<bool>()) << isa_name(level);
        EXPECT_TRUE(out.narrow(0, 70, 80).isnan().all().item<bool>()) << isa_name(level);
      }
    }
  }
}

}  // namespace
}  // namespace gyre::attention
