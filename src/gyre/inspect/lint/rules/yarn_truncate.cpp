// truncate: false, which readers that round the ramp ignore.
#include <cmath>

#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

Finding bounds(const RopeBlock& block, const LayerKind& kind, double original) {
  position::YarnRamp ramp;
  ramp.original = original;
  ramp.beta_fast = std::isnan(block.number("beta_fast")) ? 32.0 : block.number("beta_fast");
  ramp.beta_slow = std::isnan(block.number("beta_slow")) ? 1.0 : block.number("beta_slow");
  ramp.truncate = false;
  const auto exact = position::yarn_ramp_bounds(kind.base, kind.rotary_dim, ramp);
  ramp.truncate = true;
  const auto rounded = position::yarn_ramp_bounds(kind.base, kind.rotary_dim, ramp);
  const double factor = block.number("factor");
  const std::vector<double> plain = plain_table(kind);
  const auto is = position::yarn_bands(plain, factor, kind.base, kind.rotary_dim, exact);
  const auto other = position::yarn_bands(plain, factor, kind.base, kind.rotary_dim, rounded);
  size_t worst = 0;
  for (size_t m = 0; m < plain.size(); ++m) {
    worst = std::abs(std::log(other[m] / is[m])) > std::abs(std::log(other[worst] / is[worst]))
                ? m
                : worst;
  }
  return note(block.at("truncate"), "false", "",
              str("the ramp runs over pairs ", digits(exact.low), " to ", digits(exact.high),
                  " as written; a reader that rounds uses ", digits(rounded.low), " to ",
                  digits(rounded.high), ", pair ", worst, " then turns ",
                  digits(other[worst] / is[worst], 4), "x as fast"));
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const RawKey* key = block.find("truncate");
    const double original = original_length(model, block);
    if (block.type != "yarn" || key == nullptr || key->type != RawType::Bool ||
        key->number != 0.0 || !(original > 0.0) || !(block.number("factor") >= 1.0)) {
      continue;
    }
    for (const LayerKind* kind : kinds_of(model, block)) {
      found.push_back(bounds(block, *kind, original));
      break;
    }
  }
  return found;
}

}  // namespace

Rule yarn_truncate_rule() {
  return {"yarn-truncate",
          Severity::Note,
          "gpt-oss was trained with bounds that are not whole numbers; a reader that ignores "
          "the key rounds them and middle pairs turn faster.",
          "Nothing in the file; check that the reader honours truncate.",
          "vllm-project/vllm#27722, #28244; sgl-project/sglang#14270",
          check};
}

}  // namespace gyre::inspect
