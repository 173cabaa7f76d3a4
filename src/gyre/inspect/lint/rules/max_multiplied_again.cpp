// An extended length that has been multiplied by the factor once more.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double factor = block.number("factor");
    const double original = original_length(model, block);
    const double longest = key_number(beside(model, block, "max_position_embeddings"));
    const bool stretches =
        block.type == "yarn" || block.type == "linear" || block.type == "dynamic";
    if (stretches && factor > 1.0 && original > 0.0 && longest == original * factor * factor) {
      found.push_back(error(
          block.scope + "max_position_embeddings", text_of(longest), text_of(original * factor),
          str("max_position_embeddings ", text_of(longest), " is the original length ",
              text_of(original), " times the factor ", text_of(factor),
              " twice; the usable length is ", text_of(original * factor))));
    }
  }
  return found;
}

}  // namespace

Rule max_multiplied_again_rule() {
  return {"max-multiplied-again",
          Severity::Error,
          "Positions run off every table that was built for the usable length.",
          "Write original length x factor, once.",
          "vllm-project/vllm#56446",
          check};
}

}  // namespace gyre::inspect
