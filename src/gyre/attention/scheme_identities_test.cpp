// Identities between schemes that hold through the rotation itself, bit for bit.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cstring>

#include "gyre/attention/attention.h"
#include "gyre/attention/fixtures.h"
#include "gyre/position/scheme.h"

namespace gyre::attention {
namespace {

using namespace testing;

constexpr position::PlanRequest kRequest{.n_layers = 1,
                                         .n_heads = 4,
                                         .n_kv_heads = 2,
                                         .head_dim = 16,
                                         .train_length = 0,
                                         .layout = position::PairLayout::Halves};

struct Outcome {
  at::Tensor out, dq, dk, dv;
};

Outcome run(const std::string& spec, at::ScalarType dtype) {
  const auto plan = position::make_plan(spec, "full", kRequest);
  const auto& layer = plan.layers[0];
  Batch batch = random_batch({.B = 2, .H = 4, .G = 2, .T = 19, .S = 19, .D = 16}, 41, dtype);
  const std::vector<at::Tensor> inputs{batch.q.requires_grad_(), batch.k.requires_grad_(),
                                       batch.v.requires_grad_()};
  at::Tensor theta;
  if (!layer.inv_freq.empty()) {
    theta = theta_tensor(layer.inv_freq);
    theta.set_requires_grad(plan.learning.sharing != position::Sharing::None);
  }
  const auto rotation = make_rotation(theta, at::arange(19, at::TensorOptions(at::kLong)),
                                      plan.layout, layer.amplitude, at::kFloat);
  const auto [q, k] = rotate(batch.q, batch.k, rotation);
  const at::Tensor out = attention(q, k, batch.v, layer);
  const auto grads = torch::autograd::grad({(out * batch.weight).sum()}, inputs);
  return {out, grads[0], grads[1], grads[2]};
}

bool same_bits(const at::Tensor& a, const at::Tensor& b) {
  const at::Tensor x = a.detach().contiguous(), y = b.detach().contiguous();
  return x.sizes() == y.sizes() &&
         std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

void expect_same(const std::string& a, const std::string& b) {
  const OneThread quick;
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const Outcome x = run(a, dtype), y = run(b, dtype);
    EXPECT_TRUE(same_bits(x.out, y.out)) << a << " and " << b;
    EXPECT_TRUE(same_bits(x.dq, y.dq)) << a << " and " << b;
    EXPECT_TRUE(same_bits(x.dk, y.dk)) << a << " and " << b;
    EXPECT_TRUE(same_bits(x.dv, y.dv)) << a << " and " << b;
  }
}

TEST(SchemeIdentities, PRopeAtZeroIsNope) {
  expect_same("prope:p=0", "nope");  // R13
  expect_same("prope:p=0,layout=interleaved", "nope");
}

TEST(SchemeIdentities, PRopeAtOneIsRope) {
  expect_same("prope:p=1", "rope");  // R13
  expect_same("prope:p=1,layout=interleaved", "rope:layout=interleaved");
}

TEST(SchemeIdentities, LearnedFrequenciesStartAsRope) {
  expect_same("lerope", "rope");  // L08: outputs and all gradients but alpha's
  expect_same("lerope:share=head,layout=interleaved", "rope:layout=interleaved");
}

TEST(SchemeIdentities, DifferentSchemesDiffer) {
  // Guards the comparison itself.
  EXPECT_FALSE(same_bits(run("prope:p=0.5", at::kFloat).out, run("rope", at::kFloat).out));
  EXPECT_FALSE(same_bits(run("alibi", at::kFloat).out, run("nope", at::kFloat).out));
}

}  // namespace
}  // namespace gyre::attention
