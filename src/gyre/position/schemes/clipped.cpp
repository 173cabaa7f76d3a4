// Clipped RoPE (CoPE): the slowest bands fade to 0 along half a cosine; cut=hard sets them to 0,
// which is p-RoPE. Not Contextual Position Encoding, which has the same short name.
#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

enum class Cut { Soft, Hard };

}  // namespace
}  // namespace gyre::position

template <>
struct gyre::EnumNames<gyre::position::Cut> {
  static constexpr std::pair<gyre::position::Cut, const char*> list[] = {
      {gyre::position::Cut::Soft, "soft"}, {gyre::position::Cut::Hard, "hard"}};
};

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  int64_t bands = 0;  // 0 = 5/16 of the pairs, 20 of 64 as released
  Cut cut = Cut::Soft;

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("bands", bands, "how many of the slowest bands are clipped; 0 = 5/16 of them");
    v("cut", cut, "soft (times (1+cos t)/2, t from 0 to pi) or hard (times 0)");
  }
};

PositionPlan plan(const Options& options, const PlanRequest& request) {
  PositionPlan plan = unextended_plan("clipped", options, request);
  const int64_t n = options.bands == 0 ? 5 * plan.n_pairs() / 16 : options.bands;
  if (n < 0 || n > plan.n_pairs()) {
    throw Error(Code::Usage, "clipped: 'bands' must be 0 to ", plan.n_pairs(), ", got ", n);
  }
  change_bands(
      plan, [&](const Bands& bands) { return clipped_bands(bands, n, options.cut == Cut::Hard); });
  return plan;
}

}  // namespace

SchemeInfo clipped_scheme() {
  return {"clipped", "clipped RoPE (CoPE): the slowest bands fade to 0 along half a cosine",
          "of the n slowest bands the i-th (i = 0 .. n-1, slowest last) is theta (1 + cos(pi "
          "i/(n-1)))/2; "
          "cut=hard: 0; from=RUN: slowest by the learned theta (arXiv:2602.05258)",
          []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
