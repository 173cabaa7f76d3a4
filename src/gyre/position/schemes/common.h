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

/// Error(Usage) unless an interval of layers is 1 or more / a size in tokens is 0 or more.
void check_interval(std::string_view scheme, const char* option, int64_t interval);
void check_size(std::string_view scheme, const char* option, int64_t size);

/// int(p*D/2), the pairs that p-RoPE leaves turning; Error(Usage) unless 0 <= p <= 1. Barbero et
/// al. 2025, app. A, arXiv:2410.06205.
int64_t kept_pairs(std::string_view scheme, double p, int64_t head_dim);

/// base^(-2m/D) for the first kept_pairs, 0 for the rest of the D/2.
std::vector<double> proportional_bands(std::string_view scheme, double base, double p,
                                       int64_t head_dim);

/// Whether layer n is the last of its group of `interval`: n = interval-1, 2*interval-1, ...
bool is_last_of_every(int64_t interval, size_t n);

/// The scheme's own `layout` option where it is stated, else the model's.
PairLayout stated_layout(PairLayout option, const PlanRequest& request);

/// n_layers layers that rotate alike.
///
/// inv_freq  [P]; the pairs lie in the leading 2P channels
/// groups    rows of inv_freq in each layer, all equal at start
PositionPlan rotary_plan(const PlanRequest& request, PairLayout layout,
                         const std::vector<double>& inv_freq, int64_t groups = 1);

/// n_layers layers that do not rotate.
PositionPlan unrotated_plan(const PlanRequest& request);

}  // namespace gyre::position
