// Rotary position embedding: every pair of channels turns at its own fixed speed.
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

struct Options {
  double base = 10000.0;  // wavelength of pair m is 2 pi base^(2m/D) tokens
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("base", base, "band m turns base^(-2m/D) rad per token");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("rope", options.base);
  check_head_dim("rope", request);
  const int64_t n_pairs = request.head_dim / 2;
  return rotary_plan(request, options.layout,
                     geometric_bands(options.base, n_pairs, request.head_dim));
}

}  // namespace

SchemeInfo rope_scheme() {
  return {"rope", "rotary position embedding: all pairs rotate, fixed geometric frequencies",
          "theta_m = base^(-2m/D), m = 0 .. D/2-1; score_ij = (R_i q_i).(R_j k_j) / sqrt(D) "
          "(Su et al. 2021, eq. 34, arXiv:2104.09864)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
