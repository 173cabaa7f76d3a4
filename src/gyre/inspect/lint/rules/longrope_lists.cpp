// Lists of LongRoPE divisors that do not fit the rotated pairs.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

void look_at(const RopeBlock& block, const char* name, const std::vector<const LayerKind*>& kinds,
             std::vector<Finding>& found) {
  const RawKey* key = block.find(name);
  if (key == nullptr) {
    return;
  }
  if (key->type != RawType::List || key->numbers.empty()) {
    found.push_back(error(key->path, key->text, "a list of numbers",
                          str("'", name, "' must be a list of numbers, found ", key->text)));
    return;
  }
  const auto bad = std::find_if(key->numbers.begin(), key->numbers.end(), [](double factor) {
    return !(factor > 0.0) || !std::isfinite(factor);
  });
  if (bad != key->numbers.end()) {
    found.push_back(error(key->path, text_of(*bad), "above 0",
                          str("'", name, "' item ", bad - key->numbers.begin(), " is ",
                              text_of(*bad), "; divisors must be above 0")));
  }
  const auto size = static_cast<int64_t>(key->numbers.size());
  if (!kinds.empty() && kinds.front()->n_pairs() != size) {
    found.push_back(error(key->path, std::to_string(size), std::to_string(kinds.front()->n_pairs()),
                          str("'", name, "' has ", size, " items for ", kinds.front()->n_pairs(),
                              " rotated pairs (rotary dim ", kinds.front()->rotary_dim,
                              "); one per pair is needed")));
  }
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    if (block.type != "longrope") {
      continue;
    }
    const std::vector<const LayerKind*> kinds = kinds_of(model, block);
    look_at(block, "short_factor", kinds, found);
    look_at(block, "long_factor", kinds, found);
    const RawKey* brief = block.find("short_factor");
    const RawKey* longer = block.find("long_factor");
    if (kinds.empty() && brief != nullptr && longer != nullptr &&
        brief->numbers.size() != longer->numbers.size()) {
      found.push_back(error(longer->path, std::to_string(longer->numbers.size()),
                            std::to_string(brief->numbers.size()),
                            str("long_factor has ", longer->numbers.size(), " items, short_factor ",
                                brief->numbers.size(), "; both need one per rotated pair")));
    }
  }
  return found;
}

}  // namespace

Rule longrope_lists_rule() {
  return {"longrope-lists",
          Severity::Error,
          "One divisor belongs to each rotated pair; a list of another length stops the "
          "reader or shifts the pairs.",
          "Write rotary_dim / 2 numbers above 0; mind partial_rotary_factor.",
          "transformers modeling_rope_utils.py, validation of short_factor and long_factor",
          check};
}

}  // namespace gyre::inspect
