// Fixed frequencies taken from the end of another run: separates what learned frequencies are worth
// from what learning them does.
#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options {
  std::string from;
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("from", from, "run directory whose last frequencies are used");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  if (options.from.empty()) {
    throw Error(Code::Usage, "frozen: 'from' must name a run directory; use frozen:from=RUN");
  }
  return run_plan("frozen", options.from, options.layout, request);
}

}  // namespace

SchemeInfo frozen_scheme() {
  return {
      "frozen", "the frequencies another run ended with, not trained any further",
      "theta_m = the last inv_freq in RUN/frequencies.jsonl (frozen arm of Karypis et al. 2026, "
      "arXiv:2607.10134)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
