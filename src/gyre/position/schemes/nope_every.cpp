// RoPE with every n-th layer left unrotated, as in SmolLM3.
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

struct Options {
  int64_t interval = 4;
  double base = 10000.0;
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("interval", interval, "layers interval-1, 2*interval-1, .. do not rotate");
    v("base", base, "band m of the others turns base^(-2m/D) rad per token");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("nope_every", options.base);
  check_head_dim("nope_every", request);
  check_interval("nope_every", "interval", options.interval);
  const int64_t D = request.head_dim;
  PositionPlan plan = rotary_plan(request, options.layout, geometric_bands(options.base, D / 2, D));
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    if (is_last_of_every(options.interval, n)) {
      plan.layers[n].inv_freq.clear();
    }
  }
  return plan;
}

}  // namespace

SchemeInfo nope_every_scheme() {
  return {"nope_every", "RoPE, with every 4th layer unrotated (SmolLM3)",
          "layers interval-1, 2*interval-1, ..: no rotation; others theta_m = base^(-2m/D) "
          "(SmolLM3; Yang et "
          "al. 2025, arXiv:2501.18795)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
