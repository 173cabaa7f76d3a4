// Gemma 3: five layers with a window and plain RoPE, then one global layer with a larger base
// divided by a factor.
#include "gyre/position/schemes/common.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options {
  int64_t every = 6;  // layers every-1, 2 every-1, ... are global
  double local_base = 10000.0;
  int64_t window = 1024;  // tokens, own included; 512 in the 1B model
  double global_base = 1000000.0;
  double factor = 8.0;  // of global layers; 1 in the 1B model
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("every", every, "every how many layers one is global");
    v("local_base", local_base, "base of layers with a window");
    v("window", window, "keys seen in those layers, own included; 0 = all");
    v("global_base", global_base, "base of global layers");
    v("factor", factor, "frequencies of global layers are divided by this; 1 or more");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("gemma3", options.local_base);
  check_base("gemma3", options.global_base);
  check_head_dim("gemma3", request);
  check_factor("gemma3", options.factor);
  check_interval("gemma3", "every", options.every);
  check_size("gemma3", "window", options.window);
  const int64_t D = request.head_dim;
  PositionPlan plan =
      rotary_plan(request, options.layout, geometric_bands(options.local_base, D / 2, D));
  const Bands global = linear_bands(geometric_bands(options.global_base, D / 2, D), options.factor);
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    if (is_last_of_every(options.every, n)) {
      plan.layers[n].inv_freq = {global};
    } else {
      plan.layers[n].mask.window = options.window;
    }
  }
  return plan;
}

}  // namespace

SchemeInfo gemma3_scheme() {
  return {
      "gemma3",
      "Gemma 3: layers with a window and RoPE, every 6th global with a larger base over a factor",
      "layers every-1, 2*every-1, ..: theta_m = global_base^(-2m/D) / factor, all keys; others: "
      "local_base^(-2m/D), i - j < window (Gemma 3 report, arXiv:2503.19786)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
