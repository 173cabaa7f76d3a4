// Partial rotation: only a leading slice of the channels rotates, with the whole frequency range
// spread again over that slice. Not p-RoPE, which keeps the spacing of the full head.
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

struct Options {
  double base = 10000.0;
  double fraction = 0.75;  // of the head's channels, (0, 1]
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("base", base, "band m turns base^(-2m/R) rad per token");
    v("fraction", fraction, "leading part of the channels that rotates, 0 to 1; R = 2*int(f*D/2)");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,R/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("partial", options.base);
  check_head_dim("partial", request);
  const auto n_pairs = static_cast<int64_t>(
      std::floor(options.fraction * static_cast<double>(request.head_dim) / 2.0));
  if (!(options.fraction <= 1.0) || n_pairs < 1) {
    throw Error(Code::Usage,
                "partial: 'fraction' must be in (0, 1] and leave at least one pair of ",
                request.head_dim, " channels, got ", options.fraction);
  }
  return rotary_plan(request, options.layout, geometric_bands(options.base, n_pairs, 2 * n_pairs));
}

}  // namespace

SchemeInfo partial_scheme() {
  return {"partial",
          "partial RoPE: a leading slice of channels rotates, frequencies re-spaced over it",
          "R = 2*int(fraction*D/2); theta_m = base^(-2m/R), m = 0 .. R/2-1 (GPT-J and GPT-NeoX; "
          "'partial' arm of Barbero et al. 2025, tab. 2, arXiv:2410.06205)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
