// The float64 reference against an independent form: torch operations with torch's own autograd.
#include "gyre/attention/reference.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <torch/csrc/autograd/autograd.h>

#include "gyre/attention/fixtures.h"
#include "gyre/base/error.h"

namespace gyre::attention {
namespace {

using namespace testing;
using position::PairLayout;

position::LayerPlan full_layer(int64_t groups) {
  position::LayerPlan layer;
  layer.inv_freq.assign(static_cast<size_t>(groups), {1.0, 0.4, 0.0, 0.02});
  layer.inv_freq.back()[1] = 0.3;
  layer.amplitude = 1.1;
  layer.logit_scale = 0.8;
  layer.slopes = {0.5, 0.25, 0.125, 0.0625};
  layer.decay = {0.1, 0.02, 0.05, 0.0};
  layer.query_growth = 0.3;
  layer.query_growth_floor = 4.0;
  layer.mask = {4, 2, 1};
  return layer;
}

void expect_equal(const Shape& shape, PairLayout layout, int64_t groups, int64_t origin) {
  const Batch batch = random_batch(shape, 21);
  const position::LayerPlan layer = full_layer(groups);
  const ReferenceInput input = reference_input(batch, layer, layout, origin);
  const ReferenceGradient d = reference_gradient(input, to_reference(batch.weight));

  const at::Tensor q = batch.q.clone().requires_grad_(), k = batch.k.clone().requires_grad_(),
                   v = batch.v.clone().requires_grad_(),
                   theta = theta_tensor(layer.inv_freq).requires_grad_();
  const at::Tensor p = at::arange(origin, origin + shape.S, at::TensorOptions(at::kLong));
  // The amplitude does not apply to the pair with frequency 0: rotate with 1 and scale the others.
  // Decay: exp(-decay pos) on queries and its inverse on keys (sign -1 and +1).
  const auto turn = [&](const at::Tensor& x, const at::Tensor& at_positions, double sign) {
    const at::Tensor turned = composite_rotate(x, theta, at_positions, layout, 1.0);
    const at::Tensor t = at_positions.to(at::kDouble);
    at::Tensor factor = at::full({x.size(2), shape.D}, 1.0, at::kDouble);
    for (const int64_t m : {0, 1, 2, 3}) {
      const bool halves = layout == PairLayout::Halves;
      const at::Tensor column =
          (sign * layer.decay[static_cast<size_t>(m)] * t).exp() * (m == 2 ? 1.0 : layer.amplitude);
      factor.select(1, halves ? m : 2 * m).copy_(column);
      factor.select(1, halves ? m + 4 : 2 * m + 1).copy_(column);
    }
    return turned * factor;
  };
  const at::Tensor q_positions = p.narrow(0, shape.S - shape.T, shape.T);
  const at::Tensor growth =
      1.0 +
      layer.query_growth *
          (1.0 + ((q_positions.to(at::kDouble) + 1.0) / layer.query_growth_floor).floor()).log();
  const at::Tensor out = composite_attention(turn(q, q_positions, -1.0) * growth.view({-1, 1}),
                                             turn(k, p, 1.0), v, layer);
  const auto grads = torch::autograd::grad({(out * batch.weight).sum()}, {q, k, v, theta});

  expect_near(from_reference(reference_attention(input)), out, 1e-12, 0, "out");
  expect_near(from_reference(d.q), grads[0], 1e-12, 0, "dq");
  expect_near(from_reference(d.k), grads[1], 1e-12, 0, "dk");
  expect_near(from_reference(d.v), grads[2], 1e-12, 0, "dv");
  expect_near(theta_tensor(d.inv_freq), grads[3], 1e-11, 1e-12, "dtheta");
}

TEST(Reference, EqualsAutogradOfTheCompositeForm) {
  const OneThread quick;
  for (const PairLayout layout : {PairLayout::Halves, PairLayout::Interleaved}) {
    expect_equal({.B = 2, .H = 4, .G = 4, .T = 11, .S = 11, .D = 10}, layout, 1, 0);
    expect_equal({.B = 1, .H = 4, .G = 2, .T = 11, .S = 11, .D = 8}, layout, 2, 5);
    expect_equal({.B = 1, .H = 4, .G = 1, .T = 3, .S = 12, .D = 8}, layout, 1, 0);
  }
}

TEST(Reference, RefusesSizesThatDoNotFit) {
  ReferenceInput input = reference_input(random_batch({}, 22), {}, PairLayout::Halves);
  input.q_positions.pop_back();
  try {
    reference_attention(input);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "reference attention: sizes of q, k and positions do not fit");
  }
}

}  // namespace
}  // namespace gyre::attention
