// Bodies of attend_testing.h; the name puts it into the test program only.
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <functional>

#include "gyre/attention/cuda/attend.h"
#include "gyre/attention/cuda/attend_testing.h"
#include "gyre/attention/cuda/turning.h"
#include "gyre/base/error.h"
#include "gyre/position/scheme.h"

namespace gyre::attention::cuda::testing {
namespace {

using namespace attention::testing;
using position::PairLayout;
using position::PositionPlan;

constexpr const char* kMasks[] = {
    "full",          "window:5", "dilated:3x2",     "window:4+global:2",
    "window:3/full", "chunk:6",  "chunk:4+global:1"};
constexpr position::PlanRequest kRequest{
    .n_layers = 2, .n_heads = 6, .n_kv_heads = 3, .head_dim = 16, .train_length = 20};

at::Tensor theta_of(const position::LayerPlan& layer) {
  return layer.inv_freq.empty() || layer.inv_freq.front().empty() ? at::Tensor()
                                                                  : theta_tensor(layer.inv_freq);
}

// Inputs on the device, outputs back from it. `call` gets q, k, v, theta.
using Call = std::function<at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                                      const at::Tensor&)>;

Outcome differentiate(const Batch& batch, const position::LayerPlan& layer, at::Device device,
                      const Call& call) {
  const auto leaf = [&](const at::Tensor& x) { return x.to(device).clone().requires_grad_(); };
  std::vector<at::Tensor> inputs{leaf(batch.q), leaf(batch.k), leaf(batch.v)};
  at::Tensor theta = theta_of(layer);
  if (theta.defined()) {
    theta = leaf(theta);
    inputs.push_back(theta);
  }
  const at::Tensor out = call(inputs[0], inputs[1], inputs[2], theta);
  const at::Tensor loss = (out.to(at::kDouble) * batch.weight.to(device).to(at::kDouble)).sum();
  const auto grads = torch::autograd::grad({loss}, inputs);
  const auto back = [](const at::Tensor& x) { return x.detach().cpu().to(at::kDouble); };
  return {back(out), back(grads[0]), back(grads[1]), back(grads[2]),
          theta.defined() ? back(grads[3]) : at::Tensor()};
}

at::ScalarType table_type(const at::Tensor& q) {
  return q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

at::Tensor positions(int64_t T, at::Device device) {
  return at::arange(T, at::TensorOptions(at::kLong).device(device));
}

struct Subject {
  std::string name;
  PositionPlan plan;
};

std::vector<Subject> subjects(const std::string& mask) {
  std::vector<Subject> out;
  for (const auto& info : position::schemes()) {
    for (const PairLayout layout : {PairLayout::Halves, PairLayout::Interleaved}) {
      position::PlanRequest request = kRequest;
      request.layout = layout;
      try {
        out.push_back({info.name, position::make_plan(info.name, mask, request)});
      } catch (const Error&) {  // needs a trained run
      }
    }
  }
  return out;
}

Batch scheme_batch(at::ScalarType dtype) {
  return random_batch({.B = 2, .H = 6, .G = 3, .T = 20, .S = 20, .D = 16}, 31, dtype);
}

}  // namespace

Outcome run(const Target& target, const Batch& batch, const position::LayerPlan& layer,
            PairLayout layout, const at::Tensor& first_key) {
  return differentiate(
      batch, layer, target.device,
      [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& theta) {
        if (q.size(2) != k.size(2)) {  // a continuation: keys were rotated before
          return attention(*target.backend, q, k, v, layer, first_key);
        }
        const Rotation table =
            make_table(*target.backend, theta, positions(q.size(2), target.device), layout, layer,
                       table_type(q), std::nullopt);
        const auto [q_out, k_out] = rotate(*target.backend, q, k, table);
        return attention(*target.backend, q_out, k_out, v, layer, first_key);
      });
}

Outcome run_composite(const Batch& batch, const position::LayerPlan& layer, PairLayout layout) {
  return differentiate(
      batch, layer, at::kCPU,
      [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& theta) {
        if (q.size(2) != k.size(2)) {
          return composite_attention(q, k, v, layer);
        }
        const Rotation table = attention::make_rotation(theta, positions(q.size(2), at::kCPU),
                                                        layout, layer, table_type(q));
        const auto [q_out, k_out] = attention::rotate(q, k, table);
        return composite_attention(q_out, k_out, v, layer);
      });
}

Outcome run_reference(const Batch& batch, const position::LayerPlan& layer, PairLayout layout) {
  const ReferenceInput input = reference_input(batch, layer, layout);
  const auto d = reference_gradient(input, to_reference(batch.weight));
  return {from_reference(reference_attention(input)), from_reference(d.q), from_reference(d.k),
          from_reference(d.v), theta_of(layer).defined() ? theta_tensor(d.inv_freq) : at::Tensor()};
}

void Errors::raise(const Outcome& a, const Outcome& b) {
  out = std::max(out, max_difference(a.out, b.out));
  q = std::max(q, max_difference(a.q, b.q));
  k = std::max(k, max_difference(a.k, b.k));
  v = std::max(v, max_difference(a.v, b.v));
  if (a.theta.defined()) {
    theta = std::max(theta, max_difference(a.theta, b.theta));
  }
}

void expect_outcome(const Outcome& a, const Outcome& b, double atol, const std::string& what) {
  expect_near(a.out, b.out, atol, 0, what + ": out");
  expect_near(a.q, b.q, atol, 0, what + ": dq");
  expect_near(a.k, b.k, atol, 0, what + ": dk");
  expect_near(a.v, b.v, atol, 0, what + ": dv");
  if (b.theta.defined()) {
    expect_near(a.theta, b.theta, 100 * atol, 0, what + ": dtheta");  // sums weighted by positions
  }
}

void expect_within_twice(const Errors& ours, const Errors& torch, const std::string& what) {
  EXPECT_LE(ours.out, 2 * torch.out + 1e-6) << what;
  EXPECT_LE(ours.q, 2 * torch.q + 1e-6) << what;
  EXPECT_LE(ours.k, 2 * torch.k + 1e-6) << what;
  EXPECT_LE(ours.v, 2 * torch.v + 1e-6) << what;
  EXPECT_LE(ours.theta, 2 * torch.theta + 1e-6) << what;
}

void check_schemes_in_float64(const Target& target, double atol) {
  const Batch batch = scheme_batch(at::kDouble);
  for (const char* mask : kMasks) {
    for (const Subject& subject : subjects(mask)) {
      for (size_t n = 0; n < subject.plan.layers.size(); ++n) {
        const position::LayerPlan& layer = subject.plan.layers[n];
        if (n > 0 && layer == subject.plan.layers[n - 1]) {
          continue;
        }
        expect_outcome(run(target, batch, layer, subject.plan.layout),
                       run_reference(batch, layer, subject.plan.layout), atol,
                       str(subject.name, " ", mask));
      }
    }
  }
}

void check_schemes_in_bfloat16(const Target& target) {
  const Batch batch = scheme_batch(at::kBFloat16);
  for (const char* mask : kMasks) {
    Errors ours, torch;
    for (const Subject& subject : subjects(mask)) {
      const position::LayerPlan& layer = subject.plan.layers[0];
      const Outcome reference = run_reference(batch, layer, subject.plan.layout);
      ours.raise(run(target, batch, layer, subject.plan.layout), reference);
      torch.raise(run_composite(batch, layer, subject.plan.layout), reference);
    }
    expect_within_twice(ours, torch, mask);
  }
}

void check_long_rows_in_bfloat16(const Target& target) {
  const Shape shapes[] = {{.B = 1, .H = 4, .G = 2, .T = 300, .S = 300, .D = 8},
                          {.B = 1, .H = 4, .G = 4, .T = 67, .S = 401, .D = 12},
                          {.B = 2, .H = 4, .G = 1, .T = 1, .S = 130, .D = 16}};
  for (const char* mask : {"full", "window:40", "window:30+global:7", "dilated:9x3", "chunk:64",
                           "chunk:50+global:3"}) {
    Errors ours, torch;
    for (const Shape& shape : shapes) {
      const Batch batch = random_batch(shape, 17, at::kBFloat16);
      position::LayerPlan layer;
      layer.slopes = {0.7, 0.11, 0.013, 0.0003};  // none a power of two
      layer.mask = position::parse_masks(mask, 1).front();
      layer.logit_scale = 1.3;
      const Outcome reference = run_reference(batch, layer, PairLayout::Unstated);
      ours.raise(run(target, batch, layer, PairLayout::Unstated), reference);
      torch.raise(run_composite(batch, layer, PairLayout::Unstated), reference);
    }
    expect_within_twice(ours, torch, mask);
  }
}

}  // namespace gyre::attention::cuda::testing
