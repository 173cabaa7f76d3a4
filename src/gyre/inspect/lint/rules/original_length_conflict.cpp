// Two trained lengths in one file.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double own = block.number("original_max_position_embeddings");
    const RawKey* outer = beside(model, block, "original_max_position_embeddings");
    if (std::isnan(own) || outer == nullptr || outer->number == own) {
      continue;
    }
    found.push_back(error(
        block.at("original_max_position_embeddings"), text_of(own), outer->text,
        str("original_max_position_embeddings is ", text_of(own), " in ", block.path, " and ",
            outer->text, " outside it; transformers v5 takes the outer one, v4 the inner one for ",
            "yarn and llama3; keep one")));
  }
  return found;
}

}  // namespace

Rule original_length_conflict_rule() {
  return {"original-length-conflict",
          Severity::Error,
          "transformers v5 takes the outer value, v4 the inner one for yarn and llama3: two "
          "different tables.",
          "Keep one of the two, the length before extension.",
          "transformers modeling_rope_utils.py, standardize_rope_params",
          check};
}

}  // namespace gyre::inspect
