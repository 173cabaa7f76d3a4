#include "gyre/inspect/diff_gguf.h"

#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {

bool is_latent_head(const ResolvedModel& model, const LayerKind& kind) {
  return kind.n_kv_heads == 1 && (gguf_key(model, "attention.key_length_mla") != nullptr ||
                                  gguf_key(model, "attention.kv_lora_rank") != nullptr);
}

std::string state_of_freqs(const ResolvedModel& gguf, size_t n_pairs) {
  for (const ResolvedModel::Table& table : gguf.tables) {
    if (table.name.find("rope_freqs") == std::string::npos) {
      continue;
    }
    if (table.values.size() != n_pairs) {
      return str("is there with ", table.values.size(), " values for ", n_pairs,
                 " pairs, so it is not used");
    }
    const bool ones = std::all_of(table.values.begin(), table.values.end(),
                                  [](double value) { return value == 1.0; });
    return ones ? "is there, all ones" : "is there with values that cannot be used";
  }
  return "is missing";
}

std::string scaling_keys_of(const ResolvedModel& gguf) {
  const double factor = gguf_number(gguf, "rope.scaling.factor");
  return std::isnan(factor)
             ? "no scaling keys"
             : str("factor ", digits(factor, 6), " without a type, which is read as linear");
}

}  // namespace gyre::inspect
