// Scaling keys of a GGUF that are incomplete or unknown.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  static const std::vector<std::string> kTypes = {"none", "linear", "yarn", "longrope"};
  const RawKey* type = gguf_key(model, "rope.scaling.type");
  if (type == nullptr) {
    return {};
  }
  if (std::find(kTypes.begin(), kTypes.end(), type->text) == kTypes.end()) {
    const std::string near = nearest_name(type->text, kTypes);
    return {error(type->path, type->text, near,
                  str("GGUF has no rope scaling type '", type->text, "'",
                      type->text == "llama3" ? "; it is stored as a rope_freqs.weight tensor"
                      : near.empty()         ? "; it has none, linear, yarn, longrope"
                                             : "; did you mean '" + near + "'?"))};
  }
  std::vector<Finding> found;
  const std::string prefix = model.model_type + ".rope.scaling.";
  const double factor = gguf_number(model, "rope.scaling.factor");
  if ((type->text == "yarn" || type->text == "linear") && !(factor > 0.0)) {
    found.push_back(error(
        prefix + "factor", "nothing", "a value",
        str("rope scaling type '", type->text, "' without ", prefix, "factor; nothing is scaled")));
  }
  if (type->text == "yarn" &&
      std::isnan(gguf_number(model, "rope.scaling.original_context_length"))) {
    const double longest = gguf_number(model, "context_length");
    found.push_back(
        warning(prefix + "original_context_length", "nothing", "the length before extension",
                str("yarn without ", prefix, "original_context_length; readers take context_length",
                    std::isnan(longest) ? "" : " = " + text_of(longest),
                    " and put the ramp in the wrong place if that is the extended length")));
  }
  return found;
}

}  // namespace

Rule gguf_scaling_rule() {
  return {"gguf-scaling",
          Severity::Error,
          "A converter that writes half of the keys gives a file that loads and is not scaled "
          "as it should be.",
          "Convert again with a converter that writes type, factor and "
          "original_context_length.",
          "ggml-org/llama.cpp#13322; GGUF specification",
          check};
}

}  // namespace gyre::inspect
