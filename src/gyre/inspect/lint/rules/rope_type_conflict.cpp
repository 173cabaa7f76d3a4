// Both type and rope_type, and they disagree.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const RawKey* newer = block.find("rope_type");
    const RawKey* older = block.find("type");
    if (newer == nullptr || older == nullptr ||
        canonical_type(newer->text) == canonical_type(older->text)) {
      continue;
    }
    found.push_back(warning(block.at("type"), older->text, newer->text,
                            str("rope_type is '", newer->text, "' and type is '", older->text,
                                "'; newer readers take rope_type, older ones type; keep one")));
  }
  return found;
}

}  // namespace

Rule rope_type_conflict_rule() {
  return {"rope-type-conflict",
          Severity::Warning,
          "Newer readers take rope_type and older ones type: the same file gives two models.",
          "Keep rope_type and delete type.",
          "transformers modeling_rope_utils.py: rope_parameters.get(\"rope_type\", "
          "rope_parameters.get(\"type\"))",
          check};
}

}  // namespace gyre::inspect
