// The same key twice in one JSON object.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

bool is_about_positions(const std::string& path) {
  for (const char* word : {"rope", "rotary", "head_dim", "hidden_size", "num_attention_heads",
                           "num_key_value_heads", "num_hidden_layers", "position_embeddings",
                           "sliding_window", "layer_types", "model_type", "alibi"}) {
    if (path.find(word) != std::string::npos) {
      return true;
    }
  }
  return false;
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RawKey& key : model.raw.keys()) {
    if (key.repeated) {
      found.push_back((is_about_positions(key.path) ? error : warning)(
          key.path, "two values", "one value",
          str("'", key.path, "' stands twice in one object; Python keeps the last, ", key.text,
              "; other readers keep the first or stop; delete one")));
    }
  }
  return found;
}

}  // namespace

Rule duplicate_key_rule() {
  return {"duplicate-key",
          Severity::Error,
          "Readers differ: Python keeps the last value, others the first, strict ones stop.",
          "Delete one of the two.",
          "RFC 8259, section 4: names within an object SHOULD be unique",
          check};
}

}  // namespace gyre::inspect
