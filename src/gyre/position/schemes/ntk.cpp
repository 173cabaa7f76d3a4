// NTK-aware interpolation: a larger base, so that the slowest band slows by the factor and the
// fastest keeps its speed.
#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  double factor = 4.0;  // of the slowest band

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("factor", factor, "the slowest band is divided by this, the fastest by 1; 1 or more");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_factor("ntk", options.factor);
  PositionPlan plan = unextended_plan("ntk", options, request);
  if (plan.rotary_dim < 4) {
    throw Error(Code::Usage, "ntk: needs at least two pairs, got ", plan.rotary_dim, " channels");
  }
  change_bands(plan, [&](const Bands& bands) {
    return ntk_bands(bands, options.factor, options.base, plan.rotary_dim);
  });
  return plan;
}

}  // namespace

SchemeInfo ntk_scheme() {
  return {
      "ntk",
      "NTK-aware interpolation: the base grows, fast bands stay, the slowest is divided by factor",
      "base' = base * factor^(R/(R-2)), theta_m = base'^(-2m/R); with from=RUN theta_m * "
      "factor^(-2u/(R-2)), u the index at which the base has theta_m (sec. 3.1 of Peng et al. "
      "2023, "
      "arXiv:2309.00071)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
