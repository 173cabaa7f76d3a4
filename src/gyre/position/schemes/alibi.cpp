// Attention with linear biases: a fixed penalty per token of distance, one slope per head.
// Two slope conventions are in use for head counts that are no power of two; the plan says which.
#include <bit>
#include <cmath>

#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

enum class Slopes { Released, Geometric };

}  // namespace
}  // namespace gyre::position

template <>
struct gyre::EnumNames<gyre::position::Slopes> {
  static constexpr std::pair<gyre::position::Slopes, const char*> list[] = {
      {gyre::position::Slopes::Released, "released"},
      {gyre::position::Slopes::Geometric, "geometric"}};
};

namespace gyre::position {
namespace {

struct Options {
  Slopes slopes = Slopes::Released;

  template <class V>
  void fields(V& v) {
    v("slopes", slopes, "released (the authors' code, BLOOM, MPT) or geometric (the paper's text)");
  }
};

// 2^(-8h/n), h = 1..n: sec. 3, arXiv:2108.12409
std::vector<double> geometric(int64_t n) {
  std::vector<double> slopes;
  for (int64_t h = 1; h <= n; ++h) {
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(n)));
  }
  return slopes;
}

// The power of two below n, then every other slope of twice that many heads: get_slopes() in
// github.com/ofirpress/attention_with_linear_biases
std::vector<double> released(int64_t n) {
  const auto whole = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(n)));
  std::vector<double> slopes = geometric(whole);
  const std::vector<double> finer = geometric(2 * whole);
  for (int64_t h = whole; h < n; ++h) {
    slopes.push_back(finer[static_cast<size_t>(2 * (h - whole))]);
  }
  return slopes;
}

PositionPlan plan(const Options& options, const PlanRequest& request) {
  PositionPlan plan = unrotated_plan(request);
  const bool as_released = options.slopes == Slopes::Released;
  plan.slope_convention = as_released ? "released" : "geometric";
  for (LayerPlan& layer : plan.layers) {
    layer.slopes = as_released ? released(request.n_heads) : geometric(request.n_heads);
  }
  return plan;
}

}  // namespace

SchemeInfo alibi_scheme() {
  return {"alibi", "ALiBi: each head subtracts slope * distance from its scores",
          "score_ij = q_i.k_j / sqrt(D) - m_h (i - j), m_h = 2^(-8h/H), h = 1 .. H (Press et al. "
          "2022, sec. 3, arXiv:2108.12409)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
