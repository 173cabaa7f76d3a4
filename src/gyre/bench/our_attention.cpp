#include "gyre/bench/our_attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/tensor.h>

#include <chrono>

#include "gyre/attention/attention.h"
#include "gyre/bench/machine.h"
#include "gyre/bench/options.h"
#include "gyre/position/scheme.h"

namespace gyre::bench {
namespace {

/// The call that is measured.
at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const attention::Rotation& rotation, const position::LayerPlan& layer) {
  if (rotation.identity()) {
    return attention::attention(q, k, v, layer);
  }
  const auto [q_rotated, k_rotated] = attention::rotate(q, k, rotation);
  return attention::attention(q_rotated, k_rotated, v, layer);
}

position::PositionPlan plan_of(const AttentionCase& shape) {
  const position::PlanRequest request{.n_layers = 1,
                                      .n_heads = shape.heads,
                                      .n_kv_heads = shape.heads,
                                      .head_dim = shape.head_dim,
                                      .train_length = shape.length,
                                      .layout = position::PairLayout::Halves};
  const bool linear_bias = shape.kind == "alibi";
  return position::make_plan(linear_bias ? "alibi" : "rope",
                             window_of(shape.kind) > 0 ? shape.kind : "full", request);
}

attention::Rotation rotation_of(const position::PositionPlan& plan, int64_t length,
                                at::Device device) {
  const position::LayerPlan& layer = plan.layers.front();
  at::Tensor theta;
  if (!layer.inv_freq.empty() && !layer.inv_freq.front().empty()) {
    theta = at::tensor(layer.inv_freq.front(), at::kDouble).view({1, -1}).to(device);
  }
  const at::Tensor positions = at::arange(length, at::TensorOptions(at::kLong).device(device));
  return attention::make_rotation(theta, positions, plan.layout, layer, at::kFloat);
}

}  // namespace

OurAttention::OurAttention(const AttentionCase& shape, at::Device device) : device_(device) {
  const position::PositionPlan plan = plan_of(shape);
  layer_ = plan.layers.front();
  rotation_ = rotation_of(plan, shape.length, device);
  const auto options =
      at::TensorOptions(shape.dtype == "float32" ? at::kFloat : at::kBFloat16).device(device);
  const std::vector<int64_t> sizes = {shape.batch, shape.heads, shape.length, shape.head_dim};
  for (at::Tensor* each : {&q_, &k_, &v_}) {
    *each = at::randn(sizes, options).set_requires_grad(true);
  }
  grad_ = at::randn(sizes, options);
  step();
}

void OurAttention::step() {
  attend(q_, k_, v_, rotation_, layer_).backward(grad_);
  for (at::Tensor* each : {&q_, &k_, &v_}) {
    each->mutable_grad() = at::Tensor();
  }
  synchronize(device_);
}

double OurAttention::timed_ms() {
  const auto start = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace gyre::bench
