// Interleaved rotation as in Llama 4: rotating layers see their own chunk only, every n-th layer
// does not rotate, sees all and raises its queries slowly with position.
#include "gyre/base/error.h"
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

struct Options {
  int64_t interval = 4;
  double base = 500000.0;
  int64_t chunk = 8192;   // tokens
  double growth = 0.1;    // per e-fold of positions beyond the floor
  double floor = 8192.0;  // tokens
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("interval", interval, "layers interval-1, 2*interval-1, .. do not rotate and see all keys");
    v("base", base, "band m of the others turns base^(-2m/D) rad per token");
    v("chunk", chunk, "tokens per chunk of the others; 0 = all keys");
    v("growth", growth, "unrotated layers: queries times 1 + growth ln(1 + floor((i+1)/floor))");
    v("floor", floor, "tokens up to which queries are not raised; above 0");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("irope", options.base);
  check_head_dim("irope", request);
  check_interval("irope", "interval", options.interval);
  check_size("irope", "chunk", options.chunk);
  if (!(options.growth >= 0.0)) {
    throw Error(Code::Usage, "irope: 'growth' must be 0 or more, got ", options.growth);
  }
  if (!(options.floor > 0.0)) {
    throw Error(Code::Usage, "irope: 'floor' must be above 0, got ", options.floor);
  }
  const int64_t D = request.head_dim;
  PositionPlan plan = rotary_plan(request, options.layout, geometric_bands(options.base, D / 2, D));
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    LayerPlan& layer = plan.layers[n];
    if (is_last_of_every(options.interval, n)) {
      layer.inv_freq.clear();
      layer.query_growth = options.growth;
      layer.query_growth_floor = options.floor;
    } else {
      layer.mask.chunk = options.chunk;
    }
  }
  return plan;
}

}  // namespace

SchemeInfo irope_scheme() {
  return {
      "irope",
      "rotating layers that see their own chunk, every 4th unrotated with growing queries (Llama "
      "4)",
      "layers interval-1, 2*interval-1, ..: no rotation, all keys, query i times 1 + growth ln(1 + "
      "floor((i+1)/floor)); others: theta_m = base^(-2m/D), keys of the own chunk (Llama 4; query "
      "scale of "
      "arXiv:2501.19399)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
