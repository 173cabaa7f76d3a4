// The fused attention with its rotation, at every instruction set: the float64 reference, twice
// torch's error in float32 and bfloat16, documents and padding, threads, one packed projection.
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include <functional>
#include <map>

#include "gyre/attention/attention.h"
#include "gyre/attention/cpu/unit.h"
#include "gyre/attention/fixtures.h"
#include "gyre/base/error.h"

namespace gyre::attention {
namespace {

using namespace testing;
using position::PairLayout;

struct Case {
  Shape shape;
  int64_t n_pairs;
  int64_t n_tables;  // 1 or G
  PairLayout layout;
  position::MaskSpec mask;
  bool biased = false;
  double amplitude = 1.1;
  double cap = 0.0;
};

// Sizes around those of tiles (64 queries, 64 keys, channels in sixteens), D with and without a
// rest.
const Case kCases[] = {
    {{.B = 2, .H = 2, .G = 2, .T = 33, .S = 33, .D = 8}, 4, 1, PairLayout::Halves, {}},
    {{.B = 1, .H = 4, .G = 2, .T = 70, .S = 70, .D = 24}, 12, 2, PairLayout::Interleaved, {}},
    {{.B = 1, .H = 2, .G = 1, .T = 65, .S = 65, .D = 64}, 32, 1, PairLayout::Halves, {20, 1, 0}},
    {{.B = 1, .H = 3, .G = 3, .T = 64, .S = 64, .D = 80}, 20, 3, PairLayout::Halves, {}, true},
    {{.B = 1, .H = 2, .G = 2, .T = 97, .S = 97, .D = 20}, 3, 1, PairLayout::Interleaved, {9, 3, 5}},
    {{.B = 1, .H = 2, .G = 2, .T = 100, .S = 100, .D = 16},
     8,
     1,
     PairLayout::Halves,
     {70, 1, 66},
     true},
    {{.B = 2, .H = 1, .G = 1, .T = 81, .S = 81, .D = 5}, 2, 1, PairLayout::Halves, {0, 1, 2, 40}},
    {{.B = 1, .H = 1, .G = 1, .T = 1, .S = 1, .D = 16}, 8, 1, PairLayout::Halves, {}},
    {{.B = 1, .H = 1, .G = 1, .T = 20, .S = 20, .D = 272}, 136, 1, PairLayout::Halves, {}},
    {{.B = 1, .H = 2, .G = 1, .T = 71, .S = 71, .D = 24},
     12,
     1,
     PairLayout::Halves,
     {},
     false,
     1.1,
     1.5},
    {{.B = 1, .H = 2, .G = 2, .T = 66, .S = 66, .D = 16},
     8,
     1,
     PairLayout::Halves,
     {40, 1, 0},
     true,
     1.1,
     0.7}};

std::string name_of(const Case& one) {
  return str("H ", one.shape.H, " G ", one.shape.G, " T ", one.shape.T, " D ", one.shape.D, " cap ",
             one.cap);
}

position::LayerPlan layer_of(const Case& one) {
  position::LayerPlan layer;
  layer.mask = one.mask;
  layer.amplitude = one.amplitude;
  layer.logit_scale = 0.9;
  layer.score_cap = one.cap;
  for (int64_t g = 0; g < one.n_tables; ++g) {
    std::vector<double> bands;
    for (int64_t m = 0; m < one.n_pairs; ++m) {
      // The second pair does not turn.
      bands.push_back(m == 1 ? 0.0 : 1.3 / static_cast<double>((1 + g) * (1 + m * m)));
    }
    layer.inv_freq.push_back(bands);
  }
  for (int64_t h = 0; one.biased && h < one.shape.H; ++h) {
    layer.slopes.push_back(0.5 / static_cast<double>(1 + h));
  }
  return layer;
}

struct Outcome {
  at::Tensor out, q, k, v, theta;
};

Rotation table(const at::Tensor& theta, int64_t T, const Case& one, at::ScalarType dtype) {
  return make_rotation(theta, at::arange(T, at::TensorOptions(at::kLong)), one.layout,
                       layer_of(one), dtype == at::kDouble ? at::kDouble : at::kFloat);
}

Outcome run(const Batch& batch, const Case& one,
            const std::function<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                           const at::Tensor&)>& f) {
  const at::Tensor q = batch.q.clone().requires_grad_(), k = batch.k.clone().requires_grad_(),
                   v = batch.v.clone().requires_grad_(),
                   theta = theta_tensor(layer_of(one).inv_freq).requires_grad_();
  const at::Tensor out = f(q, k, v, theta);
  const auto grads = torch::autograd::grad({(out * batch.weight).sum()}, {q, k, v, theta});
  return {out, grads[0], grads[1], grads[2], grads[3]};
}

Outcome ours(const Batch& batch, const Case& one) {
  return run(batch, one, [&](const auto& q, const auto& k, const auto& v, const auto& theta) {
    return attend(q, k, v, table(theta, q.size(2), one, q.scalar_type()), layer_of(one));
  });
}

// Only for amplitude 1: composite_rotate would scale pairs that do not turn, too.
using Torch = at::Tensor (*)(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                             const position::LayerPlan&);
Outcome torchs(const Batch& batch, const Case& one, Torch attention_of_torch) {
  const position::LayerPlan layer = layer_of(one);
  const at::Tensor positions = at::arange(batch.q.size(2), at::TensorOptions(at::kLong));
  return run(batch, one, [&](const auto& q, const auto& k, const auto& v, const auto& theta) {
    return attention_of_torch(composite_rotate(q, theta, positions, one.layout, layer.amplitude),
                              composite_rotate(k, theta, positions, one.layout, layer.amplitude), v,
                              layer);
  });
}

Outcome reference(const Batch& batch, const Case& one) {
  const ReferenceInput input = reference_input(batch, layer_of(one), one.layout);
  const ReferenceGradient d = reference_gradient(input, to_reference(batch.weight));
  return {from_reference(reference_attention(input)), from_reference(d.q), from_reference(d.k),
          from_reference(d.v), theta_tensor(d.inv_freq)};
}

TEST(Attend, EqualsTheReferenceInFloat64AtEveryLevel) {
  const OneThread quick;
  for (const Case& one : kCases) {
    const Batch batch = random_batch(one.shape, 51);
    const Outcome expected = reference(batch, one);
    for (const Isa level : usable_isas()) {
      const AtLevel at_level(level);
      const Outcome actual = ours(batch, one);
      const std::string name = name_of(one) + " " + isa_name(level);
      expect_near(actual.out, expected.out, 1e-12, 0, name + ": out");
      expect_near(actual.q, expected.q, 1e-11, 0, name + ": dq");
      expect_near(actual.k, expected.k, 1e-11, 0, name + ": dk");
      expect_near(actual.v, expected.v, 1e-11, 0, name + ": dv");
      expect_near(actual.theta, expected.theta, 1e-9, 1e-11, name + ": dtheta");
    }
  }
}

// style: max|kernel - ref| <= 2 max|torch same dtype - ref| + 1e-6, over some draws of a case,
// because torch can be exact by luck in one. Torch is its flash kernel and its plain operations:
// the first takes sum_j P_j dP_j as out.dout, as we do, and loses a little where a row sees few
// keys.
struct Errors {
  double out = 0, q = 0, k = 0, v = 0, theta = 0;
  void raise(const Outcome& a, const Outcome& b) {
    out = std::max(out, max_difference(a.out, b.out));
    q = std::max(q, max_difference(a.q, b.q));
    k = std::max(k, max_difference(a.k, b.k));
    v = std::max(v, max_difference(a.v, b.v));
    theta = std::max(theta, max_difference(a.theta, b.theta));
  }
  void expect_within_twice(const Errors& other, const std::string& name) const {
    EXPECT_LE(out, 2 * other.out + 1e-6) << name << ": out";
    EXPECT_LE(q, 2 * other.q + 1e-6) << name << ": dq";
    EXPECT_LE(k, 2 * other.k + 1e-6) << name << ": dk";
    EXPECT_LE(v, 2 * other.v + 1e-6) << name << ": dv";
    EXPECT_LE(theta, 2 * other.theta + 1e-6) << name << ": dtheta";
  }
};

void expect_within_twice_torch(const Case& one, at::ScalarType dtype) {
  const std::string name = name_of(one) + (dtype == at::kFloat ? " float32 " : " bfloat16 ");
  Errors theirs;
  std::map<Isa, Errors> mine;
  for (const uint64_t seed : {61, 62, 63, 64}) {
    const Batch batch = random_batch(one.shape, seed, dtype);
    const Outcome expected = reference(batch, one);
    theirs.raise(torchs(batch, one, composite_attention), expected);
    if (one.cap == 0.0) {  // which torch's kernel has none of
      theirs.raise(torchs(batch, one, torch_attention), expected);
    }
    for (const Isa level : usable_isas()) {
      const AtLevel at_level(level);
      mine[level].raise(ours(batch, one), expected);
    }
  }
  for (const auto& [level, errors] : mine) {
    errors.expect_within_twice(theirs, name + isa_name(level));
  }
}

TEST(Attend, Float32IsWithinTwiceTorchsErrorAtEveryLevel) {
  const OneThread quick;
  for (Case one : kCases) {
    one.amplitude = 1.0;
    expect_within_twice_torch(one, at::kFloat);
  }
}

TEST(Attend, Bfloat16IsWithinTwiceTorchsErrorAtEveryLevel) {
  const OneThread quick;
  for (Case one : kCases) {
    one.amplitude = 1.0;
    expect_within_twice_torch(one, at::kBFloat16);
  }
}

TEST(Attend, TorchsTilesGiveTheSameAsOurs) {
  const OneThread quick;
  if (isa() < Isa::Avx512Bf16) {
    GTEST_SKIP() << "bfloat16 tiles need avx512_bf16, this machine has " << isa_name(isa());
  }
  for (const Case& one : kCases) {
    const Batch batch = random_batch(one.shape, 53, at::kBFloat16);
    const Outcome own = ours(batch, one);
    cpu::use_torch_tiles(true);
    const Outcome other = ours(batch, one);
    cpu::use_torch_tiles(false);
    // Sums in another order: one rounding of bfloat16 values of order 1.
    expect_near(other.out, own.out, 0.02, 0.01, name_of(one) + ": out");
    expect_near(other.k, own.k, 0.1, 0.02, name_of(one) + ": dk");
  }
}

// A row of documents: each sees itself alone.
TEST(Attend, PackedDocumentsEqualDocumentsAlone) {
  const OneThread quick;
  const std::vector<int64_t> begins{0, 5, 70, 71}, ends{5, 70, 71, 100};
  for (Case one : kCases) {
    one.shape.T = one.shape.S = 100;
    one.shape.B = 1;
    if (one.mask.n_global > 0 || one.mask.chunk > 0) {
      continue;  // counted from the row's first token, not the document's
    }
    const Batch batch = random_batch(one.shape, 54);
    at::Tensor first = at::full({1, 100}, 0, at::kLong);
    std::vector<at::Tensor> alone;
    const at::Tensor theta = theta_tensor(layer_of(one).inv_freq);
    for (size_t d = 0; d < begins.size(); ++d) {
      const int64_t n = ends[d] - begins[d];
      first.narrow(1, begins[d], n).fill_(begins[d]);
      const auto cut = [&](const at::Tensor& x) { return x.narrow(2, begins[d], n); };
      alone.push_back(attend(cut(batch.q), cut(batch.k), cut(batch.v),
                             table(theta, n, one, at::kDouble), layer_of(one)));
    }
    const at::Tensor row = attend(batch.q, batch.k, batch.v, table(theta, 100, one, at::kDouble),
                                  layer_of(one), first);
    expect_near(row, at::cat(alone, 2), 1e-11, 0, name_of(one));
  }
}

TEST(Attend, LeftPaddingChangesNothingAndGetsNoGradient) {
  const OneThread quick;
  const Case one{{.B = 2, .H = 2, .G = 1, .T = 90, .S = 90, .D = 16}, 8, 1, PairLayout::Halves, {}};
  const Batch batch = random_batch(one.shape, 55);
  const at::Tensor theta = theta_tensor(layer_of(one).inv_freq);
  const at::Tensor first = at::tensor(std::vector<int64_t>{0, 77}).view({2, 1}).expand({2, 90});
  const at::Tensor k = batch.k.clone().requires_grad_();
  const at::Tensor out =
      attend(batch.q, k, batch.v, table(theta, 90, one, at::kDouble), layer_of(one), first);
  const auto tail = [](const at::Tensor& x) { return x.narrow(0, 1, 1).narrow(2, 77, 13); };
  const at::Tensor alone = attend(tail(batch.q), tail(batch.k), tail(batch.v),
                                  table(theta, 13, one, at::kDouble), layer_of(one));
  expect_near(tail(out), alone, 1e-12);
  const auto grad = torch::autograd::grad({tail(out).sum()}, {k})[0];
  EXPECT_EQ(grad.narrow(0, 1, 1).narrow(2, 0, 77).abs().max().item<double>(), 0.0);
  EXPECT_GT(tail(grad).abs().max().item<double>(), 0.0);
}

TEST(Attend, OnePackedProjectionEqualsItsParts) {
  const OneThread quick;
  for (const Case& one : kCases) {
    const Shape& s = one.shape;
    const Batch batch = random_batch(s, 56);
    const auto row = [](const at::Tensor& x) { return x.transpose(1, 2).flatten(2); };
    const at::Tensor qkv = at::cat({row(batch.q), row(batch.k), row(batch.v)}, 2).requires_grad_();
    const at::Tensor theta = theta_tensor(layer_of(one).inv_freq).requires_grad_();
    const at::Tensor out =
        attend_packed(qkv, s.H, s.G, table(theta, s.T, one, at::kDouble), layer_of(one));
    const auto grads = torch::autograd::grad({(out * row(batch.weight)).sum()}, {qkv, theta});
    const Outcome parts = ours(batch, one);
    expect_near(out, row(parts.out), 0, 0, name_of(one));
    expect_near(grads[0], at::cat({row(parts.q), row(parts.k), row(parts.v)}, 2), 0, 0,
                name_of(one));
    expect_near(grads[1], parts.theta, 0, 0, name_of(one));
  }
}

// A steep bias makes far probabilities exactly 0 in float32, and their tiles are not visited: the
// same bits as under a window that hides those keys, and the reference's values.
TEST(Attend, KeysThatABiasMakesVanishChangeNoBit) {
  const OneThread quick;
  Case one{{.B = 1, .H = 2, .G = 1, .T = 517, .S = 517, .D = 16}, 8, 1, PairLayout::Halves, {}};
  one.amplitude = 1.0;
  position::LayerPlan layer = layer_of(one);
  layer.slopes = {0.9, 1.7};
  const auto with = [&](const Batch& batch, position::MaskSpec mask) {
    layer.mask = mask;
    return run(batch, one, [&](const auto& q, const auto& k, const auto& v, const auto& theta) {
      return attend(q, k, v, table(theta, 517, one, q.scalar_type()), layer);
    });
  };
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
    const Batch batch = random_batch(one.shape, 59, dtype);
    const Outcome all = with(batch, {}), near = with(batch, {.window = 256});
    EXPECT_TRUE(at::equal(all.out, near.out) && at::equal(all.q, near.q) &&
                at::equal(all.k, near.k) && at::equal(all.v, near.v));
    layer.mask = {};
    const ReferenceInput input = reference_input(batch, layer, one.layout);
    expect_near(all.out, from_reference(reference_attention(input)),
                dtype == at::kFloat ? 2e-6 : 0.02);
  }
}

class Threads : public ::testing::TestWithParam<int> {
 protected:
  Threads() : before_(at::get_num_threads()) { at::set_num_threads(GetParam()); }
  ~Threads() override { at::set_num_threads(before_); }

 private:
  int before_;
};

// One sequence of three heads: too few for two or four threads, so units are split.
TEST_P(Threads, SplitWorkGivesTheSameEveryTime) {
  for (const position::MaskSpec& mask : {position::MaskSpec{}, position::MaskSpec{9, 3, 5}}) {
    const Case one{{.B = 1, .H = 6, .G = 3, .T = 140, .S = 140, .D = 16},
                   8,
                   3,
                   PairLayout::Halves,
                   mask,
                   true};
    const Batch exact = random_batch(one.shape, 57);
    const Outcome expected = reference(exact, one), actual = ours(exact, one);
    expect_near(actual.out, expected.out, 1e-12);
    expect_near(actual.q, expected.q, 1e-11);
    expect_near(actual.k, expected.k, 1e-11);
    expect_near(actual.v, expected.v, 1e-11);
    expect_near(actual.theta, expected.theta, 1e-9, 1e-11);
    const Batch batch = random_batch(one.shape, 57, at::kBFloat16);
    const Outcome first = ours(batch, one), second = ours(batch, one);
    EXPECT_TRUE(at::equal(first.q, second.q) && at::equal(first.k, second.k) &&
                at::equal(first.theta, second.theta));
  }
}
INSTANTIATE_TEST_SUITE_P(Attend, Threads, ::testing::Values(1, 2, 3, 4));

TEST(Attend, RefusesTablesAndDocumentsThatDoNotFit) {
  const Case one{{.B = 2, .H = 2, .G = 2, .T = 5, .S = 7, .D = 8}, 4, 1, PairLayout::Halves, {}};
  const Batch b = random_batch(one.shape, 58);
  const at::Tensor theta = theta_tensor(layer_of(one).inv_freq);
  const auto with = [&](int64_t T, at::ScalarType dtype) { return table(theta, T, one, dtype); };
  const at::Tensor q = b.q, k = b.k.narrow(2, 0, 5), v = b.v.narrow(2, 0, 5);
  expect_value_error([&] { attend(q, b.k, b.v, with(5, at::kDouble), {}); },
                     "a rotation needs as many queries as keys, got 5 and 7");
  expect_value_error([&] { attend(q, k, v, with(4, at::kDouble), {}); },
                     "q has 5 tokens, the table has 4 positions");
  expect_value_error([&] { attend(q, k, v, with(5, at::kFloat), {}); },
                     "q is Double, its table must be Double, got Float");
  const auto part = [](const at::Tensor& x) { return x.narrow(3, 0, 6); };
  expect_value_error([&] { attend(part(q), part(k), part(v), with(5, at::kDouble), {}); },
                     "q has 6 channels per head, the table rotates 8");
  const at::Tensor three = theta.expand({3, 4});
  expect_value_error([&] { attend(q, k, v, table(three, 5, one, at::kDouble), {}); },
                     "the table has 3 groups, k has 2 heads; use 1 or one per key/value head");
  expect_value_error(
      [&] {
        attend(q, k, v, {}, {}, at::full({2, 4}, 0, at::kLong));
      },
      "first_key must be int64 [2, 5], got Long [2, 4]");
  expect_value_error(
      [&] {
        attend_packed(at::full({2, 5, 50}, 0.0, at::kDouble), 2, 1, {}, {});
      },
      "qkv must be [B, T, (2 + 2 * 1) D], got [2, 5, 50]");
  const at::Tensor wide = at::full({1, 1, 1, 1025}, 0.0, at::kDouble);
  expect_value_error([&] { attention(wide, wide, wide, {}); },
                     "head dim must be 1 to 1024, got 1025");
}

}  // namespace
}  // namespace gyre::attention
