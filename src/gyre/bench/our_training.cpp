#include "gyre/bench/our_training.h"

#include <ATen/ops/randint.h>
#include <ATen/record_function.h>

#include <chrono>

#include "gyre/bench/machine.h"
#include "gyre/position/scheme.h"
#include "gyre/train/train_step.h"

namespace gyre::bench {
namespace {

position::PositionPlan plan_of(const TrainShape& shape, bool learned) {
  return position::make_plan(learned ? "lerope" : "rope", "full",
                             model::plan_request(model_of(shape), shape.length));
}

train::TrainOptions training_options() {
  train::TrainOptions out;
  out.lr = 1e-3;
  out.clip = 1.0;
  return out;
}

}  // namespace

model::ModelConfig model_of(const TrainShape& shape) {
  model::ModelConfig out;
  out.layout = position::PairLayout::Halves;
  out.vocab = shape.vocab;
  out.width = shape.width;
  out.layers = shape.layers;
  out.heads = shape.width / shape.head_dim;
  out.head_dim = shape.head_dim;
  out.hidden = shape.hidden;
  return out;
}

OurTraining::OurTraining(const TrainShape& shape, at::ScalarType dtype, bool learned,
                         at::Device device)
    : shape_(shape),
      device_(device),
      model_(model_of(shape), plan_of(shape, learned), device),
      optimizer_(model_, training_options()) {
  constexpr int kWarmUp = 2;
  model_.init(1);
  model_.set_compute_dtype(dtype);
  for (int i = 0; i < kWarmUp; ++i) {
    step();
  }
}

void OurTraining::step() {
  const at::Tensor tokens = at::randint(shape_.vocab, {shape_.batch, shape_.length + 1},
                                        at::TensorOptions(at::kLong).device(device_));
  const data::Batch batch{tokens.narrow(1, 0, shape_.length).contiguous(),
                          tokens.narrow(1, 1, shape_.length).contiguous()};
  {
    RECORD_USER_SCOPE("forward and backward, outside operators");
    train::accumulate_gradient(model_, batch, 1);
  }
  RECORD_USER_SCOPE("optimizer, outside operators");
  optimizer_.step(1.0);
  synchronize(device_);
}

double OurTraining::timed_ms() {
  const auto start = std::chrono::steady_clock::now();
  step();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

}  // namespace gyre::bench
