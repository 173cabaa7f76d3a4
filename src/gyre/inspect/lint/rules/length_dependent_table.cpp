// Tables that change while a sequence grows, and cached keys.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

Finding dynamic_note(const RopeBlock& block, const LayerKind& kind, double factor, double longest) {
  const auto original = static_cast<int64_t>(longest);
  const double doubled =
      position::dynamic_base(kind.base, factor, original, 2 * original, kind.rotary_dim);
  return note(
      block.path, block.spelled, "",
      str("the base follows the length: ", digits(kind.base), " up to ", original, " tokens, ",
          digits(doubled, 8), " at ", 2 * original,
          "; keys cached already rotated keep the base of their time, so re-rotate them or ",
          "cache keys unrotated"));
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double factor = block.number("factor");
    const double longest = key_number(beside(model, block, "max_position_embeddings"));
    const std::vector<const LayerKind*> kinds = kinds_of(model, block);
    if (block.type == "dynamic" && factor > 1.0 && longest >= 1.0 && longest < 1e12 &&
        !kinds.empty() && kinds.front()->rotary_dim > 2) {
      found.push_back(dynamic_note(block, *kinds.front(), factor, longest));
    }
  }
  for (const LayerKind& kind : model.kinds) {
    if (canonical_type(kind.rope_type) == "dynamic" || kind.long_inv_freq.empty() ||
        kind.plan.inv_freq.empty() || kind.plan.inv_freq[0].size() != kind.long_inv_freq.size()) {
      continue;
    }
    size_t worst = 0;
    const std::vector<double>& brief = kind.plan.inv_freq[0];
    for (size_t m = 0; m < brief.size(); ++m) {
      worst =
          brief[m] / kind.long_inv_freq[m] > brief[worst] / kind.long_inv_freq[worst] ? m : worst;
    }
    found.push_back(note(
        kind.name, "two tables", "",
        str("the table changes past ", model.original_length, " tokens: pair ", worst, " from ",
            digits(brief[worst], 9), " to ", digits(kind.long_inv_freq[worst], 9),
            " rad per token; a reader that chooses by allocated context rotates short prompts ",
            "with the long table, and cached keys must be rotated anew when the length is "
            "crossed")));
  }
  return found;
}

}  // namespace

Rule length_dependent_table_rule() {
  return {"length-dependent-table",
          Severity::Note,
          "Keys that were cached already rotated belong to another table than the queries "
          "that meet them; a table chosen by allocated context is wrong for short prompts.",
          "Re-rotate or recompute cached keys when the table changes; choose by the length of "
          "the sequence; a static choice must be declared.",
          "huggingface/transformers#25104, PR#33129; ggml-org/llama.cpp#8995",
          check};
}

}  // namespace gyre::inspect
