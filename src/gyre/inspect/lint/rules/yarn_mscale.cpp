// Only one of mscale and mscale_all_dim, or two that differ.
#include <cmath>

#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double one = std::isnan(block.number("mscale")) ? 0.0 : block.number("mscale");
    const double all =
        std::isnan(block.number("mscale_all_dim")) ? 0.0 : block.number("mscale_all_dim");
    const double factor = block.number("factor");
    if (block.type != "yarn" || !(factor > 1.0) || block.find("attention_factor") != nullptr ||
        one == all) {
      continue;
    }
    const double both = position::yarn_mscale(factor, one) / position::yarn_mscale(factor, all);
    if (one != 0.0 && all != 0.0) {
      found.push_back(
          note(block.at("mscale"), text_of(one), "",
               str("mscale ", text_of(one), " and mscale_all_dim ", text_of(all),
                   " differ: amplitude ", digits(both), ", logits x", digits(both * both, 7))));
      continue;
    }
    const double alone = position::yarn_mscale(factor);
    // DeepSeek's code takes 1 for a missing mscale and 0 for a missing mscale_all_dim.
    const double deepseek = all == 0.0 ? both : alone / position::yarn_mscale(factor, all);
    if (alone != deepseek) {
      found.push_back(warning(
          block.at(one == 0.0 ? "mscale" : "mscale_all_dim"), "nothing", "both or none",
          str("only ", one == 0.0 ? "mscale_all_dim" : "mscale", " is given: transformers ignores ",
              "it (amplitude ", digits(alone), "), DeepSeek's code and vLLM use it (",
              digits(deepseek), "); give both or none")));
    }
  }
  return found;
}

}  // namespace

Rule yarn_mscale_rule() {
  return {"yarn-mscale",
          Severity::Warning,
          "transformers uses the pair or neither, DeepSeek-style readers use each alone: the "
          "amplitude differs, and logits by its square.",
          "Give both (DeepSeek-V3: 1.0 and 1.0) or none.",
          "transformers modeling_rope_utils.py; DeepSeek-V2 released modelling code",
          check};
}

}  // namespace gyre::inspect
