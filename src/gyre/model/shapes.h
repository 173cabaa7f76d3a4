// The one list of a model's parameters: names, sizes, optimizer groups, initial spread. Counting,
// construction, initialisation and checkpoints all read it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/model/config.h"
#include "gyre/model/transformer.h"

namespace gyre::model {

struct ParameterShape {
  std::string name;
  std::vector<int64_t> sizes;
  ParamGroup group = ParamGroup::Matrix;
  double init_mean = 0.0;
  double init_std = 0.0;
  int64_t numel() const;
};

/// Every parameter but alpha, in a fixed order. Biases belong to the Norm group: never decayed.
std::vector<ParameterShape> parameter_shapes(const ModelConfig& config);

/// alpha's shape for a plan: [P], [N, P], [N, G, P], or empty when nothing is learned.
std::vector<int64_t> alpha_sizes(const ModelConfig& config, const position::PositionPlan& plan);

}  // namespace gyre::model
