// A number that is written as text, a flag or a list.
#include <algorithm>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  static const std::vector<std::string> kNumbers = {"rope_theta",
                                                    "factor",
                                                    "original_max_position_embeddings",
                                                    "attention_factor",
                                                    "beta_fast",
                                                    "beta_slow",
                                                    "mscale",
                                                    "mscale_all_dim",
                                                    "low_freq_factor",
                                                    "high_freq_factor",
                                                    "partial_rotary_factor"};
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    for (const RawKey* key : block.keys) {
      const std::string name = last_part(key->path);
      if (std::find(kNumbers.begin(), kNumbers.end(), name) == kNumbers.end() ||
          key->type == RawType::Number || key->type == RawType::Null) {
        continue;
      }
      found.push_back(
          error(key->path, key->text, "a number",
                str("'", name, "' must be a number, found ",
                    key->type == RawType::Text ? "the text '" + key->text + "'" : key->text)));
    }
  }
  return found;
}

}  // namespace

Rule rope_value_type_rule() {
  return {"rope-value-type",
          Severity::Error,
          "A factor in quotes fails in arithmetic or is compared as text.",
          "Write the number without quotes.",
          "transformers modeling_rope_utils.py, type checks of each key",
          check};
}

}  // namespace gyre::inspect
