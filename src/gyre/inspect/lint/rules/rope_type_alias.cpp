// A rope type that one reader writes and others know under another name.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    if (block.type == block.spelled) {
      continue;
    }
    std::string message = str("'", block.spelled, "' is another name of '", block.type, "'");
    const double factor = block.number("factor");
    const double longest = max_length(model);
    if (factor > 1.0 && longest > 0.0) {
      message += str("; the usable length stays ", text_of(longest), ", not ",
                     text_of(longest * factor), " as in a reader that does not know the name");
    }
    found.push_back(note(block.at(block.find("rope_type") != nullptr ? "rope_type" : "type"),
                         block.spelled, block.type, message));
  }
  return found;
}

}  // namespace

Rule rope_type_alias_rule() {
  return {"rope-type-alias",
          Severity::Note,
          "A reader that does not know the alias may skip the scaling, or take the length as "
          "not yet extended and multiply it by the factor again.",
          "Write the standard name (yarn, longrope, default) unless the reader at hand needs "
          "the alias.",
          "vllm-project/vllm#56446",
          check};
}

}  // namespace gyre::inspect
