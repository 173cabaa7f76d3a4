// A Llama 3.1 GGUF without its rope_freqs tensor.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  // "deci": models pruned from Llama 3.1, which keep its scaling.
  if (model.source != SourceKind::Gguf ||
      (model.model_type != "llama" && model.model_type != "deci")) {
    return {};
  }
  for (const ResolvedModel::Table& table : model.tables) {
    if (table.name.find("rope_freqs") != std::string::npos ||
        table.name.find("rope_factors") != std::string::npos) {
      return {};
    }
  }
  for (const Provenance& one : model.origins) {
    if (one.field == kFilesField) {
      return {};  // another part may hold it
    }
  }
  const RawKey* type = gguf_key(model, "rope.scaling.type");
  const double length = gguf_number(model, "context_length");
  const double vocab = gguf_number(model, "vocab_size");
  if (gguf_number(model, "rope.freq_base") != 5e5 || !(length > 8192.0) ||
      (type != nullptr && type->text != "none") || (vocab < 128256.0 || vocab > 128320.0)) {
    return {};
  }
  // 64 channels: Llama 3.2 1B, the only one of its size.
  const bool small = !model.kinds.empty() && model.kinds.front().head_dim == 64;
  // No other published llama has this base and this length; fine-tunes add a few tokens, and many
  // converters leave vocab_size out.
  const bool certain = length == 131072.0;
  return {(certain ? error : warning)(
      "rope_freqs.weight", "nothing",
      small ? "32 values, the first 15 are 1, the last 14 are 32"
            : "64 values, the first 29 are 1, the last 29 are 8",
      str("base 500000 and length ", text_of(length), " as in Llama 3.1, but no rope_freqs.weight ",
          "tensor; GGUF has no other way to say llama3 scaling, so long contexts degrade; convert ",
          "again"))};
}

}  // namespace

Rule gguf_llama3_freqs_rule() {
  return {"gguf-llama3-freqs",
          Severity::Error,
          "GGUF has no llama3 scaling type; the scaling is a tensor of divisors, and without "
          "it long contexts degrade.",
          "Convert again with a converter that writes rope_freqs.weight.",
          "ggml-org/llama.cpp#8650, ik_llama.cpp#402",
          check};
}

}  // namespace gyre::inspect
