// Our side of the training benchmark: one whole step on new random tokens, through the same calls
// as the trainer.
#pragma once

#include <cstdint>

#include "gyre/bench/options.h"
#include "gyre/model/config.h"
#include "gyre/model/transformer.h"
#include "gyre/train/optimizer.h"

namespace gyre::bench {

/// The model of the shape, as the peers build it.
model::ModelConfig model_of(const TrainShape& shape);

class OurTraining {
 public:
  /// dtype: at::kBFloat16 or at::kFloat, the compute type. learned: frequencies are trained.
  OurTraining(const TrainShape& shape, at::ScalarType dtype, bool learned, at::Device device);

  void step();
  /// One step, ms.
  double timed_ms();

 private:
  TrainShape shape_;
  at::Device device_;
  model::Transformer model_;
  train::Optimizer optimizer_;
};

}  // namespace gyre::bench
