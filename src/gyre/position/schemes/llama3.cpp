// The frequency change of Llama 3.1 and later: by wavelength, with a blend between two of them.
#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  double factor = 8.0;
  double low = 1.0;      // turns inside the original length
  double high = 4.0;     // turns
  int64_t original = 0;  // tokens; 0 = the training length

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("factor", factor, "slow frequencies are divided by this; 1 or more");
    v("low", low, "bands with fewer turns inside the original length are divided by factor");
    v("high", high, "bands with more turns are kept; low or more, equal = a step without a blend");
    v("original", original, "tokens of the original context; 0 = the training length");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_factor("llama3", options.factor);
  if (!(options.low > 0.0 && options.high >= options.low)) {
    throw Error(Code::Usage, "llama3: 'high' must not be below 'low', got low ", options.low,
                " and high ", options.high);
  }
  const auto original = static_cast<double>(original_length("llama3", options.original, request));
  PositionPlan plan = unextended_plan("llama3", options, request);
  const Llama3Options rule{options.factor, options.low, options.high, original};
  change_bands(plan, [&](const Bands& bands) { return llama3_bands(bands, rule).bands; });
  return plan;
}

}  // namespace

SchemeInfo llama3_scheme() {
  return {"llama3",
          "Llama 3.1 extension: bands kept, blended or divided by factor according to wavelength",
          "w = 2 pi/theta_m: kept when w < original/high, theta_m/factor when w > original/low, "
          "else t = "
          "(original/w - low)/(high - low), theta_m ((1-t)/factor + t); from=RUN: theta_m learned "
          "(Llama 3.1 "
          "release, sec. 3.4 of arXiv:2407.21783)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
