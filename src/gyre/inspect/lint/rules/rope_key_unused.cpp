// A valid key that the rope type at hand does not read.
#include <algorithm>
#include <cmath>
#include <map>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

const std::map<std::string, std::vector<std::string>>& readers() {
  static const std::map<std::string, std::vector<std::string>> kReaders = {
      {"factor", {"linear", "dynamic", "yarn", "longrope", "llama3", "proportional", "ntk"}},
      {"original_max_position_embeddings", {"dynamic", "yarn", "longrope", "llama3"}},
      {"attention_factor", {"yarn", "longrope"}},
      {"beta_fast", {"yarn"}},
      {"beta_slow", {"yarn"}},
      {"truncate", {"yarn"}},
      {"mscale", {"yarn"}},
      {"mscale_all_dim", {"yarn"}},
      {"short_factor", {"longrope"}},
      {"long_factor", {"longrope"}},
      {"low_freq_factor", {"llama3"}},
      {"high_freq_factor", {"llama3"}}};
  return kReaders;
}

Finding unused(const RopeBlock& block, const RawKey& key, const std::string& name) {
  if (name == "factor" && (block.type.empty() || block.type == "default")) {
    if (block.spelled.empty()) {
      return error(key.path, key.text, "a rope_type beside it",
                   str("factor ", key.text, " without a rope_type; no reader scales anything; ",
                       "add \"rope_type\""));
    }
    return warning(key.path, key.text, "1",
                   str("factor ", key.text, " has no effect with rope type '", block.spelled,
                       "'; name the scaling or delete the factor"));
  }
  return note(key.path, key.text, "",
              str("'", name, "' has no effect with rope type '",
                  block.spelled.empty() ? "default" : block.spelled, "'; ",
                  readers().at(name).front(), " reads it"));
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const auto& known = rope_types();
    if (!block.type.empty() && std::find(known.begin(), known.end(), block.type) == known.end()) {
      continue;  // unknown types have a rule of their own
    }
    for (const RawKey* key : block.keys) {
      const std::string name = last_part(key->path);
      const auto entry = readers().find(name);
      if (entry == readers().end() || key->type == RawType::Null ||
          std::find(entry->second.begin(), entry->second.end(), block.type) !=
              entry->second.end() ||
          (name == "factor" && key->number == 1.0)) {
        continue;
      }
      found.push_back(unused(block, *key, name));
    }
  }
  return found;
}

}  // namespace

Rule rope_key_unused_rule() {
  return {"rope-key-unused",
          Severity::Note,
          "The key looks as if it changed positions and does not: a factor beside rope type "
          "default, a llama3 key in a yarn block. A factor with no rope type at all scales "
          "nothing and is an error.",
          "Delete the key, or name the rope type that reads it.",
          "transformers modeling_rope_utils.py, optional and required keys of each type",
          check};
}

}  // namespace gyre::inspect
