#include "gyre/position/schemes/common.h"

#include <algorithm>
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

void check_interval(std::string_view scheme, const char* option, int64_t interval) {
  if (interval < 1) {
    throw Error(Code::Usage, scheme, ": '", option, "' must be 1 or more layers, got ", interval);
  }
}

void check_size(std::string_view scheme, const char* option, int64_t size) {
  if (size < 0) {
    throw Error(Code::Usage, scheme, ": '", option, "' must be 0 or more tokens, got ", size);
  }
}

int64_t kept_pairs(std::string_view scheme, double p, int64_t head_dim) {
  if (!(p >= 0.0 && p <= 1.0)) {
    throw Error(Code::Usage, scheme, ": 'p' must be in [0, 1], got ", p);
  }
  return static_cast<int64_t>(std::floor(p * static_cast<double>(head_dim) / 2.0));
}

std::vector<double> proportional_bands(std::string_view scheme, double base, double p,
                                       int64_t head_dim) {
  std::vector<double> bands = geometric_bands(base, head_dim / 2, head_dim);
  std::fill(bands.begin() + kept_pairs(scheme, p, head_dim), bands.end(), 0.0);
  return bands;
}

bool is_last_of_every(int64_t interval, size_t n) {
  return (static_cast<int64_t>(n) + 1) % interval == 0;
}

PairLayout stated_layout(PairLayout option, const PlanRequest& request) {
  return option == PairLayout::Unstated ? request.layout : option;
}

PositionPlan rotary_plan(const PlanRequest& request, PairLayout layout,
                         const std::vector<double>& inv_freq, int64_t groups) {
  PositionPlan plan = unrotated_plan(request);
  plan.layout = stated_layout(layout, request);
  plan.rotary_dim = 2 * static_cast<int64_t>(inv_freq.size());
  for (LayerPlan& layer : plan.layers) {
    layer.inv_freq.assign(static_cast<size_t>(groups), inv_freq);
  }
  return plan;
}

PositionPlan unrotated_plan(const PlanRequest& request) {
  PositionPlan plan;
  plan.layout = request.layout;
  plan.head_dim = request.head_dim;
  plan.layers.resize(static_cast<size_t>(request.n_layers));
  return plan;
}

}  // namespace gyre::position
