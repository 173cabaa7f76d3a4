// A key inside a rope block that nobody reads.
#include <algorithm>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

const std::vector<std::string>& known_keys() {
  static const std::vector<std::string> kKeys = {
      "rope_type", "type", "rope_theta", "factor", "original_max_position_embeddings",
      "attention_factor", "beta_fast", "beta_slow", "truncate", "mscale", "mscale_all_dim",
      "short_factor", "long_factor", "short_mscale", "long_mscale", "low_freq_factor",
      "high_freq_factor", "partial_rotary_factor", "mrope_section", "mrope_interleaved",
      // of single families or single readers
      "llama_4_scaling_beta", "max_position_embeddings", "finetuned", "alpha", "xdrope_section",
      "apply_yarn_scaling", "attn_factor", "extrapolation_factor", "interleaved", "rope_dim"};
  return kKeys;
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    for (const RawKey* key : block.keys) {
      const std::string name = last_part(key->path);
      if (std::find(known_keys().begin(), known_keys().end(), name) != known_keys().end()) {
        continue;
      }
      const std::string near = nearest_name(name, known_keys());
      const bool misspelled = !near.empty() && is_near(name, near);
      found.push_back((misspelled ? error : warning)(
          key->path, name, near,
          str("unknown key '", name, "' in ", block.path,
              near.empty() ? "; no known key is near" : "; did you mean '" + near + "'?")));
    }
  }
  return found;
}

}  // namespace

Rule rope_key_unknown_rule() {
  return {"rope-key-unknown",
          Severity::Error,
          "A misspelled key is skipped in silence and its default is used in its place.",
          "Correct the spelling; the message names the nearest valid key.",
          "transformers 5.18 accepts \"facter\" with a log line (measured)",
          check};
}

}  // namespace gyre::inspect
