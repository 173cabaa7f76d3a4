// Attention against the float64 reference for every mask with and without bias: outputs, gradients.
#include "gyre/attention/attention.h"

#include <ATen/TensorOperators.h>
#include <torch/csrc/autograd/autograd.h>

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

std::vector<Case> cases() {
  const std::vector<std::pair<std::string, Shape>> shapes = {
      {"square", {.B = 2, .H = 3, .G = 3, .T = 33, .S = 33, .D = 8}},
      {"one token", {.B = 1, .H = 2, .G = 2, .T = 1, .S = 1, .D = 8}},
      {"one head", {.B = 1, .H = 1, .G = 1, .T = 17, .S = 17, .D = 6}},
      {"grouped", {.B = 2, .H = 6, .G = 2, .T = 13, .S = 13, .D = 16}},
      {"continued", {.B = 1, .H = 4, .G = 2, .T = 9, .S = 40, .D = 8}},
      {"one step", {.B = 2, .H = 2, .G = 1, .T = 1, .S = 29, .D = 8}},
      {"two blocks", {.B = 1, .H = 2, .G = 1, .T = 150, .S = 150, .D = 4}}};
  const std::vector<std::pair<std::string, position::MaskSpec>> masks = {
      {"full", {}},          {"window 1", {1, 1, 0}},   {"window 7", {7, 1, 0}},
      {"wide", {500, 1, 0}}, {"dilated", {3, 4, 0}},    {"global", {4, 1, 3}},
      {"mixed", {2, 5, 2}},  {"all global", {2, 1, 60}}};
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

}  // namespace
}  // namespace gyre::attention
