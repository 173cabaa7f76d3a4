// A top-level key that nobody reads, one typing error away from a key of positions that is absent.
#include <algorithm>
#include <cctype>

#include "gyre/inspect/architecture.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

// Keys that decide positions or shapes in every family.
const std::vector<std::string>& common_keys() {
  static const std::vector<std::string> kKeys = {"rope_theta",
                                                 "rope_scaling",
                                                 "rope_parameters",
                                                 "hidden_size",
                                                 "num_hidden_layers",
                                                 "num_attention_heads",
                                                 "num_key_value_heads",
                                                 "head_dim",
                                                 "max_position_embeddings",
                                                 "sliding_window",
                                                 "partial_rotary_factor",
                                                 "layer_types"};
  return kKeys;
}

// Real keys of some family that lie near another family's.
bool is_real(const std::string& name) {
  static const std::vector<std::string> kReal = {
      "n_head",      "n_heads",     "n_layer",          "n_layers",         "num_layers",
      "v_head_dim",  "qk_head_dim", "qk_nope_head_dim", "qk_rope_head_dim", "rotary_pct",
      "rope_pct",    "rotary_dim",  "rope_ratio",       "rope_beta",        "num_heads",
      "rope_base",   "rotary_base", "hidden_sizes",     "layer_type",       "rope_type",
      "kv_head_dim", "window_size", "sliding_windows",  "layers_block_type"};
  return std::find(kReal.begin(), kReal.end(), name) != kReal.end() ||
         std::find(common_keys().begin(), common_keys().end(), name) != common_keys().end();
}

/// What the class reads at the top of the file.
std::vector<std::string> candidates(const ResolvedModel& model) {
  std::vector<std::string> keys = common_keys();
  const Architecture* known = find_architecture(model.model_type);
  const Architecture& rules = known != nullptr ? *known : unknown_architecture();
  for (const std::string& key :
       {rules.theta_key, rules.theta_ratio_key, rules.local_theta_key, rules.head_dim_key,
        rules.global_head_dim_key, rules.partial_key, rules.rotary_dim_key, rules.window_key,
        rules.window_switch, rules.rotates_key, rules.unrotated_every_key, rules.full_every_key,
        rules.first_windowed_key, rules.chunk_key, rules.interleave_key}) {
    if (key.size() > 5 && key.find('.') == std::string::npos) {
      keys.push_back(key);
    }
  }
  return keys;
}

std::vector<std::string> words(const std::string& name) {
  std::vector<std::string> out(1);
  for (const char c : name) {
    if (c == '_') {
      out.emplace_back();
    } else {
      out.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& one : parts) {
    out += one;
  }
  return out;
}

// The same words, one of them misspelled, or the same letters with other joints. A word more, or
// another word (qk_nope_head_dim), makes another key.
bool is_misspelling(const std::string& name, const std::string& key) {
  const std::vector<std::string> mine = words(name);
  const std::vector<std::string> right = words(key);
  if (joined(mine) == joined(right)) {
    return true;
  }
  if (mine.size() != right.size()) {
    return mine.size() < right.size() && key.size() >= 10 &&
           is_near(joined(mine), joined(right), 1);
  }
  size_t wrong = 0;
  for (size_t i = 0; i < mine.size(); ++i) {
    if (mine[i] == right[i]) {
      continue;
    }
    ++wrong;
    const size_t most = right[i].size() >= 5 ? 2 : 1;
    if (mine[i].size() < 2 || !is_near(mine[i], right[i], most)) {
      return false;
    }
  }
  return wrong == 1;
}

// Of the type that the key has where it is spelled right.
bool fits(const RawKey& key, const std::string& candidate) {
  const bool block = candidate == "rope_scaling" || candidate == "rope_parameters";
  const bool list = candidate == "layer_types" || candidate == "no_rope_layers";
  return key.type != RawType::Null && block == (key.type == RawType::Object) &&
         list == (key.type == RawType::List);
}

bool is_given(const ResolvedModel& model, const std::string& key) {
  if (text_key(model, key) != nullptr) {
    return true;
  }
  const std::vector<RopeBlock> blocks = rope_blocks(model);
  return std::any_of(blocks.begin(), blocks.end(),
                     [&key](const RopeBlock& block) { return block.find(key) != nullptr; });
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  if (model.source != SourceKind::Config && model.source != SourceKind::Folder) {
    return found;
  }
  const std::vector<std::string> keys = candidates(model);
  for (const RawKey& key : model.raw.keys()) {
    const std::string name = last_part(key.path);
    // transformers writes private copies, "_sliding_window_pattern".
    if (key.used || name.starts_with('_') || is_real(name) || text_key(model, name) != &key ||
        std::find(keys.begin(), keys.end(), name) != keys.end()) {
      continue;
    }
    for (const std::string& candidate : keys) {
      if (fits(key, candidate) && is_misspelling(name, candidate) && !is_given(model, candidate)) {
        found.push_back((model.known_type ? error : warning)(
            key.path, name, candidate,
            str("nobody reads '", name, "'; did you mean '", candidate,
                "'? it is not in the file and its default is used")));
        break;
      }
    }
  }
  return found;
}

}  // namespace

Rule key_misspelled_rule() {
  return {"key-misspelled",
          Severity::Error,
          "A misspelled key at the top of the file is skipped in silence and a default is used in "
          "its place, a base of 10000 for 500000. A warning for model types not known here.",
          "Correct the spelling; the message names the key.",
          "transformers configuration_utils.py: unknown keys become attributes that nobody reads",
          check};
}

}  // namespace gyre::inspect
