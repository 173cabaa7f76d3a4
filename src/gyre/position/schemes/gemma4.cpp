// Gemma 4: layers with a window and plain RoPE, every 6th and the last global with proportional
// rotation. Here both kinds have the same head dim (the release doubles it in global layers).
#include "gyre/position/schemes/common.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options {
  int64_t every = 6;  // layers every-1, 2 every-1, ... and the last are global
  double local_base = 10000.0;
  int64_t window = 512;  // tokens, own included
  double global_base = 1000000.0;
  double p = 0.25;  // fraction of pairs that rotate in global layers
  double factor = 1.0;
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("every", every, "every how many layers one is global; the last always is");
    v("local_base", local_base, "base of layers with a window");
    v("window", window, "keys seen in those layers, own included; 0 = all");
    v("global_base", global_base, "base of global layers");
    v("p", p, "fraction of pairs that rotate in global layers, 0 to 1");
    v("factor", factor, "frequencies of global layers are divided by this; 1 or more");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("gemma4", options.local_base);
  check_base("gemma4", options.global_base);
  check_head_dim("gemma4", request);
  check_factor("gemma4", options.factor);
  check_interval("gemma4", "every", options.every);
  check_size("gemma4", "window", options.window);
  const int64_t D = request.head_dim;
  PositionPlan plan =
      rotary_plan(request, options.layout, geometric_bands(options.local_base, D / 2, D));
  const Bands global =
      linear_bands(proportional_bands("gemma4", options.global_base, options.p, D), options.factor);
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    if (is_last_of_every(options.every, n) || n + 1 == plan.layers.size()) {
      plan.layers[n].inv_freq = {global};
    } else {
      plan.layers[n].mask.window = options.window;
    }
  }
  return plan;
}

}  // namespace

SchemeInfo gemma4_scheme() {
  return {
      "gemma4",
      "Gemma 4: layers with a window and RoPE, every 6th and the last global and proportional",
      "global layers: theta_m = global_base^(-2m/D) / factor for m < int(p*D/2), else 0; others: "
      "local_base^(-2m/D), i - j < window (Gemma 4 configuration; rotation of arXiv:2410.06205)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
