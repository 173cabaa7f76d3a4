// Windows that have no effect, are switched off, or are missing.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

// An absent key may have a class default, null has none.
bool is_null(const ResolvedModel& model) {
  return std::any_of(model.raw.keys().begin(), model.raw.keys().end(), [](const RawKey& key) {
    return key.type == RawType::Null && last_part(key.path) == "sliding_window" &&
           key.path.find("vision") == std::string::npos;
  });
}

std::vector<Finding> check(const ResolvedModel& model) {
  const RawKey* window = text_key(model, "sliding_window");
  const RawKey* list = text_key(model, "layer_types");
  const bool listed = list != nullptr && std::find(list->texts.begin(), list->texts.end(),
                                                   "sliding_attention") != list->texts.end();
  const bool sliding_layers =  // without a list the class says which layers slide
      listed || (list == nullptr &&
                 std::any_of(model.kinds.begin(), model.kinds.end(), [](const LayerKind& kind) {
                   return kind.name == "sliding_attention";
                 }));
  if (window == nullptr || window->type != RawType::Number) {
    if (!sliding_layers || model.source == SourceKind::Gguf || !is_null(model)) {
      return {};
    }
    return {error("sliding_window", "null", "a number of keys",
                  str(listed ? "layer_types has" : "the model has",
                      " sliding_attention layers, but sliding_window is null; give the window in ",
                      "tokens"))};
  }
  const RawKey* use = text_key(model, "use_sliding_window");
  if (use != nullptr && use->type == RawType::Bool && use->number == 0.0) {
    return {note(window->path, window->text, "",
                 str("sliding_window ", window->text, " is switched off by use_sliding_window"))};
  }
  if (window->number <= 0.0) {
    return {warning(window->path, window->text, "null or above 0",
                    str("sliding_window ", window->text,
                        "; some readers take it as no window, others as no keys; write null or ",
                        "a number above 0"))};
  }
  const double longest = max_length(model);
  if (window->number >= longest) {
    return {note(window->path, window->text, "",
                 str("sliding_window ", window->text, " covers all ", text_of(longest),
                     " positions and has no effect"))};
  }
  return {};
}

}  // namespace

Rule sliding_window_rule() {
  return {"sliding-window",
          Severity::Note,
          "A window at or above the longest length, or one that is switched off, restricts "
          "nothing; sliding layers without a window are an error.",
          "Nothing for a note; else give sliding_window in tokens.",
          "transformers Qwen2Config and Gemma2Config; vllm-project/vllm#3385",
          check};
}

}  // namespace gyre::inspect
