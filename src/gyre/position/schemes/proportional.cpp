// Proportional rotation as Gemma 4 ships it: p-RoPE under another name, with a factor.
#include "gyre/position/schemes/common.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options {
  double base = 1000000.0;  // Gemma 4, global layers
  double p = 0.25;          // fraction of pairs that rotate, [0, 1]
  double factor = 1.0;
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("base", base, "band m turns base^(-2m/D) rad per token before the division");
    v("p", p, "fraction of pairs that rotate, 0 to 1; exactly int(p*D/2) pairs");
    v("factor", factor, "every frequency is divided by this; 1 or more");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("proportional", options.base);
  check_head_dim("proportional", request);
  check_factor("proportional", options.factor);
  return rotary_plan(
      request, options.layout,
      linear_bands(proportional_bands("proportional", options.base, options.p, request.head_dim),
                   options.factor));
}

}  // namespace

SchemeInfo proportional_scheme() {
  return {
      "proportional",
      "proportional: the fastest int(p*D/2) pairs rotate, over the whole head, divided by factor",
      "theta_m = base^(-2m/D) / factor for m < int(p*D/2), else 0 (Gemma 4; with factor 1 equal to "
      "p-RoPE, "
      "arXiv:2410.06205)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
