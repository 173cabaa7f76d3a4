// A partial factor that the model class does not read.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

// Pairs that turn; a table may end in zeros instead of being short.
int64_t turning(const LayerKind& kind) {
  if (kind.plan.inv_freq.empty()) {
    return kind.n_pairs();
  }
  const std::vector<double>& row = kind.plan.inv_freq[0];
  return std::count_if(row.begin(), row.end(), [](double f) { return f != 0.0; });
}

void look_at(const ResolvedModel& model, const RawKey* key,
             const std::vector<const LayerKind*>& kinds, std::vector<Finding>& found) {
  if (key == nullptr || !(key_number(key) > 0.0) || key->number >= 1.0) {
    return;
  }
  for (const LayerKind* kind : kinds) {
    const auto wanted = static_cast<int64_t>(static_cast<double>(kind->head_dim) * key->number) / 2;
    if (kind->rotary_dim == kind->head_dim && turning(*kind) == kind->n_pairs() &&
        wanted < kind->n_pairs()) {
      found.push_back((model.known_type ? error : warning)(
          key->path, key->text, "a class that reads it",
          str("partial factor ", key->text, " asks for ", wanted, " of ", kind->n_pairs(),
              " pairs, but model type '", model.model_type, "' does not read it and rotates all ",
              kind->n_pairs(), "; delete it or use a class that reads it")));
      return;
    }
  }
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  if (text_key(model, "qk_rope_head_dim") != nullptr) {
    return found;  // the rotated part of the head is given by that key
  }
  std::vector<const LayerKind*> rotating;
  for (const LayerKind& kind : model.kinds) {
    if (kind.base > 0.0 && kind.rotary_dim > 0) {
      rotating.push_back(&kind);
    }
  }
  for (const char* name : {"partial_rotary_factor", "rotary_pct"}) {
    look_at(model, text_key(model, name), rotating, found);
  }
  for (const RopeBlock& block : rope_blocks(model)) {
    const bool other_part = block.scope.empty() && model.raw.has("text_config");
    if (!other_part) {
      look_at(model, block.find("partial_rotary_factor"), kinds_of(model, block), found);
    }
  }
  return found;
}

}  // namespace

Rule partial_factor_dropped_rule() {
  return {"partial-factor-dropped",
          Severity::Error,
          "The whole head is rotated without a word although the file asks for a part of it.",
          "Delete the factor, or use a model class that reads it.",
          "measured on transformers 5.18: LlamaConfig, head_dim 64, factor 0.5: 32 pairs "
          "instead of 16",
          check};
}

}  // namespace gyre::inspect
