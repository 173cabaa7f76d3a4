// A number that is written as text, a flag or a list.
#include <algorithm>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

// "rope_scaling": "yarn", 4 or [1, 2].
std::vector<Finding> blocks_that_are_none(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const char* name : {"rope_scaling", "rope_parameters"}) {
    const RawKey* key = text_key(model, name);
    if (key != nullptr && key->type != RawType::Object) {
      found.push_back(error(key->path, key->text, "an object or null",
                            str("'", name, "' must be an object with rope_type and its numbers, ",
                                "found ", key->text, "; nothing in it is read")));
    }
  }
  return found;
}

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
  std::vector<Finding> found = blocks_that_are_none(model);
  for (const RopeBlock& block : rope_blocks(model)) {
    for (const RawKey* key : block.keys) {
      const std::string name = last_part(key->path);
      if ((name == "truncate" || name == "mrope_interleaved") &&
          (key->type == RawType::Text || key->type == RawType::List)) {
        found.push_back(error(key->path, key->text, "true or false",
                              str("'", name, "' must be true or false, found the text '", key->text,
                                  "', which counts as true or is not read")));
        continue;
      }
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
          "A factor or flag in quotes fails in arithmetic or is compared as text; a block that is "
          "no object is not read.",
          "Write numbers, true and false without quotes, the block as an object.",
          "transformers modeling_rope_utils.py, type checks of each key",
          check};
}

}  // namespace gyre::inspect
