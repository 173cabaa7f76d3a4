// layer_types of a wrong length or with an unknown entry.
#include <algorithm>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

const std::vector<std::string>& known_types() {
  static const std::vector<std::string> kTypes = {"full_attention",
                                                  "sliding_attention",
                                                  "chunked_attention",
                                                  "linear_attention",
                                                  "window_attention",
                                                  "indexed_attention",
                                                  "compressed_sparse_attention",
                                                  "heavily_compressed_attention",
                                                  "deepseek_sparse_attention",
                                                  "qwen_sparse_attention",
                                                  "minimax_m3_sparse",
                                                  "reference_sliding_attention",
                                                  "attention",
                                                  "mamba",
                                                  "recurrent",
                                                  "conv",
                                                  "moe",
                                                  "hybrid",
                                                  "hybrid_sliding",
                                                  "sparse",
                                                  "dense"};
  return kTypes;
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const RawKey* list = text_key(model, "layer_types");
  if (list == nullptr || list->type != RawType::List) {
    return found;
  }
  const auto layers = static_cast<double>(list->texts.size());
  const double wanted = text_number(model, "num_hidden_layers");
  if (is_whole(wanted) && !list->texts.empty() && layers != wanted) {
    found.push_back(error(list->path, text_of(layers), text_of(wanted),
                          str("layer_types has ", text_of(layers), " entries for ", text_of(wanted),
                              " layers; one per layer is needed")));
  }
  std::vector<std::string> told;
  for (size_t i = 0; i < list->texts.size(); ++i) {
    const std::string& type = list->texts[i];
    const auto& known = known_types();
    if (std::find(known.begin(), known.end(), type) != known.end() ||
        std::find(told.begin(), told.end(), type) != told.end()) {
      continue;
    }
    told.push_back(type);
    const std::string near = nearest_name(type, known);
    const bool misspelled = !near.empty() && is_near(type, near, type.size() > 8 ? 3 : 1);
    found.push_back((misspelled ? error : warning)(
        list->path, type, misspelled ? near : "",
        str("unknown layer type '", type, "' at layer ", i,
            misspelled ? "; did you mean '" + near + "'?" : "; no reader known here has it")));
  }
  return found;
}

}  // namespace

Rule layer_types_rule() {
  return {"layer-types",
          Severity::Error,
          "The type decides window, base and scaling of a layer; readers stop at a list that "
          "does not fit.",
          "One known name per layer.",
          "transformers configuration_utils.py, ALLOWED_LAYER_TYPES",
          check};
}

}  // namespace gyre::inspect
