// Position interpolation: every frequency divided by the same factor.
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  double factor = 4.0;  // new length / old length

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("factor", factor, "every frequency is divided by this; 1 or more");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_factor("linear", options.factor);
  PositionPlan plan = unextended_plan("linear", options, request);
  change_bands(plan, [&](const Bands& bands) { return linear_bands(bands, options.factor); });
  return plan;
}

}  // namespace

SchemeInfo linear_scheme() {
  return {"linear", "position interpolation: all frequencies divided by one factor",
          "theta_m = base^(-2m/R) / factor; with from=RUN the learned theta_m / factor (Chen et "
          "al. 2023, "
          "arXiv:2306.15595)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
