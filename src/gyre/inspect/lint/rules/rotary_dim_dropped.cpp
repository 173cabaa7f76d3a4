// The legacy key rotary_dim, which newer readers do not know.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  static const std::vector<std::string> kNative = {"gptj", "codegen", "minimax_m3_vl",
                                                   "minimax_m3_vl_text"};
  const RawKey* key = text_key(model, "rotary_dim");
  if (std::isnan(key_number(key)) || model.source == SourceKind::Gguf) {
    return {};
  }
  double head = text_number(model, "head_dim");
  bool honoured = model.kinds.empty();
  int64_t rotated = 0;
  for (const LayerKind& kind : model.kinds) {
    if (kind.base > 0.0) {
      honoured = honoured || static_cast<double>(kind.rotary_dim) == key->number;
      rotated = kind.rotary_dim;
      head = static_cast<double>(kind.head_dim);
    }
  }
  const double factor = text_number(model, "partial_rotary_factor");
  if (!honoured && rotated > 0) {
    return {error(key->path, key->text, std::to_string(rotated),
                  str("rotary_dim is ", key->text, ", but ", rotated,
                      " dims are rotated; write partial_rotary_factor"))};
  }
  if (!std::isnan(factor) && head > 0.0 && std::floor(head * factor) != key->number) {
    return {error(key->path, key->text, text_of(std::floor(head * factor)),
                  str("rotary_dim is ", key->text, ", but partial_rotary_factor ", text_of(factor),
                      " of head_dim ", text_of(head), " is ", text_of(std::floor(head * factor)),
                      "; make them agree"))};
  }
  const bool native = std::find(kNative.begin(), kNative.end(), model.model_type) != kNative.end();
  if (native || !std::isnan(factor) || !(head > 0.0) || key->number >= head) {
    return {};
  }
  return {(model.known_type ? note : warning)(
      key->path, key->text, str("partial_rotary_factor ", text_of(key->number / head)),
      str("only the legacy rotary_dim ", key->text, " says that a part of the ", text_of(head),
          " dims is rotated; a reader that does not know it rotates ", text_of(head / 2),
          " pairs instead of ", text_of(key->number / 2), "; add partial_rotary_factor ",
          text_of(key->number / head)))};
}

}  // namespace

Rule rotary_dim_dropped_rule() {
  return {"rotary-dim-dropped",
          Severity::Warning,
          "A reader that knows only partial_rotary_factor rotates the whole head. A "
          "contradiction with what is rotated or with that factor is an error; a family whose "
          "readers know the key gets a note.",
          "Add partial_rotary_factor = rotary_dim / head_dim.",
          "huggingface/transformers#48241",
          check};
}

}  // namespace gyre::inspect
