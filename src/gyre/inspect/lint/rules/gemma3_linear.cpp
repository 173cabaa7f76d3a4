// Gemma 3's linear factor on the wrong layers.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

constexpr double kProbe = 2916.0;  // the position of the report

bool is_gemma3(const ResolvedModel& model) {
  const RawKey* inner = model.raw.find("text_config.model_type");
  return model.model_type.starts_with("gemma3") ||
         (inner != nullptr && inner->text.starts_with("gemma3"));
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  if (!is_gemma3(model)) {
    return found;
  }
  const bool gguf = model.source == SourceKind::Gguf;
  const double longest = gguf ? gguf_number(model, "context_length") : max_length(model);
  for (const LayerKind& kind : model.kinds) {
    if (kind.base <= 0.0 || kind.plan.inv_freq.empty() || kind.plan.inv_freq[0].empty()) {
      continue;
    }
    const double angle = kProbe * kind.plan.inv_freq[0][0];
    const bool local = kind.plan.mask.window > 0;
    if (local && kind.factor > 1.0) {
      found.push_back(warning(
          kind.name + ": factor", text_of(kind.factor), "1",
          str("factor ", text_of(kind.factor), " on local layers: position 2916 turns pair 0 by ",
              text_of(angle), " instead of 2916; Gemma 3 scales global layers alone")));
    } else if (!local && kind.factor == 1.0 && longest > 32768.0) {
      found.push_back(warning(
          kind.name + ": factor", "1", "8",
          str("length ", text_of(longest), " without a factor on global layers: position 2916 ",
              "turns pair 0 by ", text_of(angle), "; released 4B to 27B models have linear 8 and ",
              "364.5; some files are meant without it, so compare with the checkpoint")));
    }
  }
  return found;
}

}  // namespace

Rule gemma3_linear_rule() {
  return {"gemma3-linear",
          Severity::Warning,
          "Global layers of the 4B to 27B models were tuned with linear 8, local layers "
          "without; the other way round both see wrong distances.",
          "factor 8 on full_attention layers only; the 1B model has none.",
          "ggml-org/llama.cpp#14367, ollama#13452, mlx-vlm#1709; ollama#12348 for files that "
          "want factor 1",
          check};
}

}  // namespace gyre::inspect
