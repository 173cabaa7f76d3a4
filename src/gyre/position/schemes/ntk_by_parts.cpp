// NTK-by-parts: fast bands keep their frequency, slow ones are interpolated, those between are
// blended. Two conventions are in use under this name.
#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

enum class Convention { Paper, Released };

}  // namespace
}  // namespace gyre::position

template <>
struct gyre::EnumNames<gyre::position::Convention> {
  static constexpr std::pair<gyre::position::Convention, const char*> list[] = {
      {gyre::position::Convention::Paper, "paper"},
      {gyre::position::Convention::Released, "released"}};
};

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  double factor = 4.0;
  int64_t original = 0;  // tokens; 0 = the training length
  Convention convention = Convention::Paper;
  double alpha = 1.0, beta = 32.0;  // turns inside the original length, sec. 3.2

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("factor", factor, "slow frequencies are divided by this; 1 or more");
    v("original", original, "tokens of the original context; 0 = the training length");
    v("convention", convention, "paper (by turns, alpha and beta) or released (before the paper)");
    v("alpha", alpha, "paper: bands with fewer turns are divided by factor");
    v("beta", beta, "paper: bands with more turns are kept");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_factor("ntk_by_parts", options.factor);
  if (!(options.alpha >= 0.0 && options.beta > options.alpha)) {
    throw Error(Code::Usage, "ntk_by_parts: 'beta' must be above 'alpha', got alpha ",
                options.alpha, " and beta ", options.beta);
  }
  const auto original =
      static_cast<double>(original_length("ntk_by_parts", options.original, request));
  PositionPlan plan = unextended_plan("ntk_by_parts", options, request);
  if (options.convention == Convention::Released && plan.rotary_dim < 4) {
    throw Error(Code::Usage, "ntk_by_parts: needs at least two pairs, got ", plan.rotary_dim,
                " channels");
  }
  change_bands(plan, [&](const Bands& bands) {
    return options.convention == Convention::Paper
               ? by_parts_bands(bands, options.factor, original, options.alpha, options.beta)
               : released_by_parts_bands(bands, options.factor, original, options.base,
                                         plan.rotary_dim);
  });
  return plan;
}

}  // namespace

SchemeInfo ntk_by_parts_scheme() {
  return {"ntk_by_parts",
          "NTK-by-parts: fast bands kept, slow ones divided by factor, blended between by turns",
          "r = original theta_m / (2 pi), g = clamp((r - alpha)/(beta - alpha), 0, 1), theta'_m = "
          "(1-g) "
          "theta_m/factor + g theta_m; from=RUN: theta_m learned (sec. 3.2 of Peng et al. 2023, "
          "arXiv:2309.00071); released: three tables blended by index (code before the paper)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
