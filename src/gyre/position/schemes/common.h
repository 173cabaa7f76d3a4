// What several schemes share: the geometric band table, option checks, a plan with equal layers.
#pragma once

#include <string_view>
#include <vector>

#include "gyre/position/scheme.h"

namespace gyre::position {

/// base^(-2m/width) for m = 0 .. n_pairs-1, rad per token (Su et al. 2021, sec. 3.2.2,
/// arXiv:2104.09864). width is the number of channels over which the exponents are spread.
std::vector<double> geometric_bands(double base, int64_t n_pairs, int64_t width);

/// Error(Usage) unless base > 1 / the head dim is even and positive.
void check_base(std::string_view scheme, double base);
void check_head_dim(std::string_view scheme, const PlanRequest& request);

/// n_layers layers that rotate alike.
///
/// inv_freq  [P]; the pairs lie in the leading 2P channels
/// groups    rows of inv_freq in each layer, all equal at start
PositionPlan rotary_plan(const PlanRequest& request, PairLayout layout,
                         const std::vector<double>& inv_freq, int64_t groups = 1);

/// n_layers layers that do not rotate.
PositionPlan unrotated_plan(const PlanRequest& request);

}  // namespace gyre::position
