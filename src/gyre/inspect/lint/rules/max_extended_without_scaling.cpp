// A length beyond what the family was trained on, with plain rotation.
#include <cmath>

#include "gyre/inspect/lint/known_lengths.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

bool is_scaled(const ResolvedModel& model) {
  for (const RopeBlock& block : rope_blocks(model)) {
    if (!block.type.empty() && block.type != "default") {
      return true;
    }
  }
  for (const LayerKind& kind : model.kinds) {
    if (kind.factor > 1.0 || !kind.long_inv_freq.empty()) {
      return true;
    }
  }
  const RawKey* type = gguf_key(model, "rope.scaling.type");
  if ((type != nullptr && type->text != "none") || gguf_number(model, "rope.scaling.factor") > 1 ||
      gguf_number(model, "rope.scale_linear") > 1) {
    return true;
  }
  for (const ResolvedModel::Table& table : model.tables) {  // the scaling may lie in a tensor
    if (table.name.find("rope_freqs") != std::string::npos ||
        table.name.find("rope_factors") != std::string::npos) {
      return true;
    }
  }
  return false;
}

// 10000 tells positions apart over some ten thousand tokens; no family is published with it and
// unscaled global layers at 64k or more.
std::vector<Finding> check_base(const ResolvedModel& model, double longest) {
  for (const LayerKind& kind : model.kinds) {
    if (model.model_type == "llama" && kind.base == 1e4 && kind.plan.mask.window == 0 &&
        longest >= 65536.0) {
      return {warning("max_position_embeddings", text_of(longest), "",
                      str("length ", text_of(longest), " with base 10000 and no scaling; llamas ",
                          "of that base were trained on 2048 to 16384; add the block or base the ",
                          "weights were tuned with"))};
    }
  }
  return {};
}

std::vector<Finding> check(const ResolvedModel& model) {
  const KnownLength known = known_length(model);
  const bool gguf = model.source == SourceKind::Gguf;
  const double longest = gguf ? gguf_number(model, "context_length") : max_length(model);
  // A llama GGUF of Llama 3 has a rule of its own: its scaling is a tensor.
  if (known.admitted == 0.0 && !gguf && !is_scaled(model)) {
    return check_base(model, longest);
  }
  if (known.admitted == 0.0 || !(longest > known.admitted) || is_scaled(model) ||
      (gguf && known.family == "Llama 3")) {
    return {};
  }
  const std::string key = gguf ? model.model_type + ".context_length" : "max_position_embeddings";
  const std::string block =
      known.family == "Llama 3" ? "a llama3 block (factor 8 in Llama 3.1)"
      : known.family == "Qwen3"
          ? str("a yarn block with factor ", digits(longest / known.trained, 6))
          : str("{\"rope_type\": \"linear\", \"factor\": ", digits(longest / known.trained, 6),
                "}");
  return {warning(
      key, text_of(longest), text_of(known.admitted),
      str("length ", text_of(longest), " without scaling; ", known.family, " was trained on ",
          text_of(known.trained), "; if the weights were tuned with scaling, add ", block))};
}

}  // namespace

Rule max_extended_without_scaling_rule() {
  return {"max-extended-without-scaling",
          Severity::Warning,
          "Weights tuned with scaled positions and loaded without the block give noise past a "
          "few hundred tokens; without tuning, quality breaks off at the trained length.",
          "Add the block the weights were tuned with, or lower max_position_embeddings to the "
          "trained length.",
          "JIA-Lab-research/LongLoRA#181; ggml-org/llama.cpp#13322",
          check};
}

}  // namespace gyre::inspect
