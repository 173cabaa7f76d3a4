// Bounds of the YaRN ramp in the wrong order.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    if (block.type != "yarn") {
      continue;
    }
    const double fast = std::isnan(block.number("beta_fast")) ? 32.0 : block.number("beta_fast");
    const double slow = std::isnan(block.number("beta_slow")) ? 1.0 : block.number("beta_slow");
    if (fast < slow || slow <= 0.0) {  // equal, as in Kimi K2: one step, no blend
      found.push_back(
          error(block.at("beta_fast"), text_of(fast), "beta_slow or more",
                str("beta_fast ", text_of(fast), " must not be below beta_slow ", text_of(slow),
                    " and both above 0; the usual values are 32 and 1")));
    }
  }
  return found;
}

}  // namespace

Rule yarn_betas_rule() {
  return {"yarn-betas",
          Severity::Error,
          "beta_fast and beta_slow are turns inside the trained length; in the wrong order "
          "the ramp runs backwards.",
          "beta_fast >= beta_slow > 0; 32 and 1 unless the model was tuned with others.",
          "Peng et al. 2023, section 3.2, arXiv:2309.00071",
          check};
}

}  // namespace gyre::inspect
