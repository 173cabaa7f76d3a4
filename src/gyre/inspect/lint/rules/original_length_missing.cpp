// Scaling that needs the trained length, without it.
#include <cmath>

#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

std::string yarn_consequence(const ResolvedModel& model, const RopeBlock& block, double longest) {
  const double factor = block.number("factor");
  for (const LayerKind* kind : kinds_of(model, block)) {
    if (factor > 1.0 && kind->base > 1.0) {
      position::YarnRamp ramp;
      ramp.original = longest;
      const auto taken = position::yarn_ramp_bounds(kind->base, kind->rotary_dim, ramp);
      ramp.original = longest / factor;
      const auto meant = position::yarn_ramp_bounds(kind->base, kind->rotary_dim, ramp);
      return str(" (ramp over pairs ", digits(taken.low, 4), " to ", digits(taken.high, 4),
                 "; if that length is the extended one it should be ", digits(meant.low, 4), " to ",
                 digits(meant.high, 4), ")");
    }
  }
  return "";
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    if ((block.type != "yarn" && block.type != "llama3" && block.type != "longrope") ||
        !std::isnan(original_length(model, block))) {
      continue;
    }
    const double longest = key_number(beside(model, block, "max_position_embeddings"));
    const std::string key = block.at("original_max_position_embeddings");
    std::string message =
        str("rope type '", block.spelled, "' without ",
            "original_max_position_embeddings; readers take ", "max_position_embeddings");
    if (!std::isnan(longest)) {
      message += " = " + text_of(longest);
      message += block.type == "yarn" ? yarn_consequence(model, block, longest) : "";
    }
    message += "; add the length before extension";
    found.push_back((block.type == "llama3" ? error : warning)(
        key, "nothing", "the length before extension", message));
  }
  return found;
}

}  // namespace

Rule original_length_missing_rule() {
  return {"original-length-missing",
          Severity::Warning,
          "The bands that are kept, blended and divided depend on the trained length. Readers "
          "fall back on the extended one, or stop (llama3 in transformers v4: an error here).",
          "Add original_max_position_embeddings, the length before extension, to the block.",
          "transformers modeling_rope_utils.py, standardize_rope_params; NVIDIA/"
          "Megatron-LM#1418",
          check};
}

}  // namespace gyre::inspect
