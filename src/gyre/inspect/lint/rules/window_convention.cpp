// What the window number counts.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const LayerKind& kind : model.kinds) {
    const int64_t window = kind.plan.mask.window;
    const bool covers_all = model.max_length > 0 && window >= model.max_length;
    if (window > 0 && kind.plan.mask.dilation == 1 && !covers_all) {
      found.push_back(
          note(kind.name + ": window", std::to_string(window), "",
               str("a query sees ", window, " keys, itself included: query ", window + 6,
                   " sees 7 to ", window + 6, "; in flash attention that is a left window of ",
                   window - 1, " (", window, " would show ", window + 1, " keys)")));
    }
  }
  const RawKey* total = text_key(model, "attention_window");
  if (total != nullptr && model.model_type == "longformer") {
    const double width = total->numbers.empty() ? key_number(total) : total->numbers.front();
    if (width > 0.0) {
      found.push_back(note(total->path, text_of(width), "",
                           str("attention_window ", text_of(width),
                               " counts both sides: ", text_of(std::floor(width / 2)),
                               " keys each side, ", text_of(2 * std::floor(width / 2) + 1),
                               " with the query; in the original code the number is one side, ",
                               text_of(2 * width + 1), " keys")));
    }
  }
  return found;
}

}  // namespace

Rule window_convention_rule() {
  return {"window-convention",
          Severity::Note,
          "Backends disagree by one key on what a window counts, Longformer code by a factor "
          "of two.",
          "Pass the number in the convention of the backend; compare masks element by "
          "element.",
          "huggingface/transformers#39408, #29623, vllm-project/vllm#3385; bomri/SlowFast#5",
          check};
}

}  // namespace gyre::inspect
