// Sections of a multi-axis rope that do not add up to the pairs.
#include <numeric>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const RawKey* key = block.find("mrope_section");
    const std::vector<const LayerKind*> kinds = kinds_of(model, block);
    if (key == nullptr || key->numbers.empty() || kinds.empty()) {
      continue;
    }
    const double sum = std::accumulate(key->numbers.begin(), key->numbers.end(), 0.0);
    const int64_t pairs = kinds.front()->n_pairs();
    if (sum != static_cast<double>(pairs)) {
      found.push_back(warning(key->path, text_of(sum), std::to_string(pairs),
                              str("mrope_section ", key->text, " adds up to ", text_of(sum),
                                  ", but ", pairs, " pairs are rotated")));
    }
  }
  return found;
}

}  // namespace

Rule mrope_section_rule() {
  return {"mrope-section",
          Severity::Warning,
          "Each rotated pair belongs to one axis (time, height, width); a wrong sum leaves "
          "pairs without an axis or stops the reader.",
          "Sections must add up to rotary_dim / 2; mind the partial factor.",
          "AI-Hypercomputer/maxtext#4616; Qwen2-VL, arXiv:2409.12191",
          check};
}

}  // namespace gyre::inspect
