// xPos: rotation, and a decay over distance that is strongest for the fastest bands. Causal only.
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

struct Options {
  double base = 10000.0;
  double scale_base = 512.0;  // tokens
  double gamma = 0.4;
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("base", base, "band m turns base^(-2m/D) rad per token");
    v("scale_base", scale_base, "tokens over which band m's score falls by its zeta_m; above 0");
    v("gamma", gamma, "zeta_m = (2m/D + gamma)/(1 + gamma); above 0");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

// -ln zeta_m / scale_base, nats per token: sec. 3.2 and algorithm 1, arXiv:2212.10554
std::vector<double> decays(const Options& options, int64_t head_dim) {
  std::vector<double> out;
  for (int64_t m = 0; m < head_dim / 2; ++m) {
    const double place = 2.0 * static_cast<double>(m) / static_cast<double>(head_dim);
    const double zeta = (place + options.gamma) / (1.0 + options.gamma);
    out.push_back(-std::log(zeta) / options.scale_base);
  }
  return out;
}

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("xpos", options.base);
  check_head_dim("xpos", request);
  if (!(options.scale_base > 0.0)) {
    throw Error(Code::Usage, "xpos: 'scale_base' must be above 0, got ", options.scale_base);
  }
  if (!(options.gamma > 0.0)) {
    throw Error(Code::Usage, "xpos: 'gamma' must be above 0, got ", options.gamma);
  }
  PositionPlan plan =
      rotary_plan(request, options.layout,
                  geometric_bands(options.base, request.head_dim / 2, request.head_dim));
  for (LayerPlan& layer : plan.layers) {
    layer.decay = decays(options, request.head_dim);
  }
  return plan;
}

}  // namespace

SchemeInfo xpos_scheme() {
  return {"xpos", "xPos: rotation, with each band's part of the score decaying over distance",
          "theta_m = base^(-2m/D); band m's part of the score times zeta_m^((i-j)/scale_base), "
          "zeta_m = (2m/D "
          "+ gamma)/(1 + gamma) (Sun et al. 2022, arXiv:2212.10554)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
