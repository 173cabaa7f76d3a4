// LongRoPE inside a block of one layer kind.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    if (block.type == "longrope" && !block.kind.empty()) {
      found.push_back(warning(
          block.at("rope_type"), block.spelled, "",
          str("longrope for the layer kind '", block.kind, "' alone: transformers 5.18 stops with ",
              "UnboundLocalError on the second pass beyond the original length; test it or use "
              "one ",
              "block for all layers")));
    }
  }
  return found;
}

}  // namespace

Rule longrope_per_layer_rule() {
  return {"longrope-per-layer",
          Severity::Warning,
          "transformers 5.18 stops with UnboundLocalError on the second forward pass beyond "
          "the original length.",
          "Use one block for all layers, or a reader that was tested with it.",
          "measured on transformers 5.18: {\"full_attention\": {longrope}}, two calls with "
          "2000 positions, original length 1024",
          check};
}

}  // namespace gyre::inspect
