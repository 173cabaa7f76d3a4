#include "gyre/position/schemes/common.h"

#include <cmath>

#include "gyre/base/error.h"

namespace gyre::position {

std::vector<double> geometric_bands(double base, int64_t n_pairs, int64_t width) {
  std::vector<double> bands;
  for (int64_t m = 0; m < n_pairs; ++m) {
    bands.push_back(std::pow(base, -2.0 * static_cast<double>(m) / static_cast<double>(width)));
  }
  return bands;
}

void check_base(std::string_view scheme, double base) {
  if (!(base > 1.0) || !std::isfinite(base)) {
    throw Error(Code::Usage, scheme, ": 'base' must be a number above 1, got ", base);
  }
}

void check_head_dim(std::string_view scheme, const PlanRequest& request) {
  if (request.head_dim < 2 || request.head_dim % 2 != 0) {
    throw Error(Code::Usage, scheme, ": the head dim must be even to form pairs, got ",
                request.head_dim);
  }
}

PositionPlan rotary_plan(const PlanRequest& request, PairLayout layout,
                         const std::vector<double>& inv_freq, int64_t groups) {
  PositionPlan plan = unrotated_plan(request);
  plan.layout = layout;
  plan.rotary_dim = 2 * static_cast<int64_t>(inv_freq.size());
  for (LayerPlan& layer : plan.layers) {
    layer.inv_freq.assign(static_cast<size_t>(groups), inv_freq);
  }
  return plan;
}

PositionPlan unrotated_plan(const PlanRequest& request) {
  PositionPlan plan;
  plan.head_dim = request.head_dim;
  plan.layers.resize(static_cast<size_t>(request.n_layers));
  return plan;
}

}  // namespace gyre::position
