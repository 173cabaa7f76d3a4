// p-RoPE: RoPE with exactly int(p D/2) pairs kept at their original frequencies, the rest
// unrotated. cut=low drops the slowest pairs (the published scheme), cut=high the fastest (its
// "reversed" arm).
#include <algorithm>

#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

enum class Cut { Low, High };

}  // namespace
}  // namespace gyre::position

template <>
struct gyre::EnumNames<gyre::position::Cut> {
  static constexpr std::pair<gyre::position::Cut, const char*> list[] = {
      {gyre::position::Cut::Low, "low"}, {gyre::position::Cut::High, "high"}};
};

namespace gyre::position {
namespace {

struct Options {
  double base = 10000.0;
  double p = 0.75;     // fraction of pairs that rotate, [0, 1]; 0.75 is the paper's best arm
  Cut cut = Cut::Low;  // which frequencies are dropped
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("base", base, "band m turns base^(-2m/D) rad per token");
    v("p", p, "fraction of pairs that rotate, 0 to 1; exactly int(p*D/2) pairs");
    v("cut", cut, "dropped frequencies: low (slowest) or high (fastest)");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("prope", options.base);
  check_head_dim("prope", request);
  const int64_t n_pairs = request.head_dim / 2;
  std::vector<double> bands = geometric_bands(options.base, n_pairs, request.head_dim);
  const int64_t kept = kept_pairs("prope", options.p, request.head_dim);
  const int64_t dropped = n_pairs - kept;
  const auto first = options.cut == Cut::Low ? bands.begin() + kept : bands.begin();
  std::fill(first, first + dropped, 0.0);
  return rotary_plan(request, options.layout, bands);
}

}  // namespace

SchemeInfo prope_scheme() {
  return {"prope", "p-RoPE: the fastest int(p*D/2) pairs rotate as in RoPE, the rest not at all",
          "theta_m = base^(-2m/D) for m < int(p*D/2), else 0 (cut=high: 0 for the fastest, the "
          "'reversed' arm) (Barbero et al. 2025, sec. 6.1, arXiv:2410.06205)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
