// Dynamic NTK: the base grows with the sequence at hand, so the plan is one for a length. All keys
// of a sequence are rotated with the base of its whole length; tables are never mixed.
#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  double factor = 2.0;   // growth beyond the original length
  int64_t original = 0;  // tokens; 0 = the training length

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("factor", factor, "how fast the base grows with length beyond the original; 1 or more");
    v("original", original, "tokens up to which nothing changes; 0 = the training length");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_factor("dynamic", options.factor);
  const int64_t original = original_length("dynamic", options.original, request);
  PositionPlan plan = unextended_plan("dynamic", options, request);
  if (plan.rotary_dim < 4) {
    throw Error(Code::Usage, "dynamic: needs at least two pairs, got ", plan.rotary_dim,
                " channels");
  }
  const int64_t length = sequence_length(request);
  const double factor = dynamic_factor(options.factor, original, length);
  change_bands(plan, [&](const Bands& bands) {
    return ntk_bands(bands, factor, options.base, plan.rotary_dim);
  });
  plan.holds_to = options.factor > 1.0 ? std::max(original, length) : 0;
  plan.length_rule =
      str("a sequence of L > ", original, " tokens: every query and key is rotated with the base ",
          "grown by (", options.factor, " L/", original, " - ", options.factor - 1.0,
          ")^(R/(R-2)); shorter ones: the base as it is");
  return plan;
}

}  // namespace

SchemeInfo dynamic_scheme() {
  return {"dynamic", "dynamic NTK: the base grows with the length of the sequence at hand",
          "a = factor * L/original - (factor - 1), L = max(sequence, original); base' = base * "
          "a^(R/(R-2)); "
          "all keys of a sequence use the base of its whole length (sec. 3.3 of Peng et al. 2023, "
          "arXiv:2309.00071)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
