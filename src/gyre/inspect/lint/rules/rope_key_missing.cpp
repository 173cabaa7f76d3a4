// A key that the rope type needs and the block lacks.
#include <map>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  static const std::map<std::string, std::vector<const char*>> kNeeded = {
      {"linear", {"factor"}},
      {"dynamic", {"factor"}},
      {"yarn", {"factor"}},
      {"longrope", {"short_factor", "long_factor"}},
      {"llama3", {"factor", "low_freq_factor", "high_freq_factor"}}};
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const auto needed = kNeeded.find(block.type);
    if (needed == kNeeded.end()) {
      continue;
    }
    for (const char* name : needed->second) {
      const bool null_allowed = block.type == "yarn" && model.raw.has(block.at(name));
      const bool alpha = block.type == "dynamic" && block.find("alpha") != nullptr;
      if (block.find(name) == nullptr && !null_allowed && !alpha) {
        found.push_back(error(block.at(name), "nothing", "a value",
                              str("rope type '", block.spelled, "' needs '", name, "' in ",
                                  block.path, ", found none; add it")));
      }
    }
  }
  return found;
}

}  // namespace

Rule rope_key_missing_rule() {
  return {"rope-key-missing",
          Severity::Error,
          "Readers stop, or scale by a default that nobody chose.",
          "Add the key; for linear and dynamic the factor is wanted length / trained length.",
          "transformers modeling_rope_utils.py, required keys of each type",
          check};
}

}  // namespace gyre::inspect
