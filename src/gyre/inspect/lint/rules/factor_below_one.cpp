// A scaling factor below 1 or no number.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const auto look = [&found](const RawKey* key, bool zero_is_none) {
    if (key == nullptr || key->type != RawType::Number ||
        (key->number >= 1.0 && std::isfinite(key->number)) ||
        (zero_is_none && key->number == 0.0)) {
      return;
    }
    found.push_back(error(key->path, key->text, "1 or more",
                          str("factor must be 1 or more, found ", key->text,
                              "; it divides frequencies, so below 1 it speeds them up; write ",
                              "extended length / trained length")));
  };
  for (const RopeBlock& block : rope_blocks(model)) {
    look(block.find("factor"), false);
  }
  look(gguf_key(model, "rope.scaling.factor"), true);
  return found;
}

}  // namespace

Rule factor_below_one_rule() {
  return {"factor-below-one",
          Severity::Error,
          "A factor divides frequencies; below 1 it speeds every one up and positions leave "
          "the trained range sooner.",
          "Write extended length / trained length; its inverse is a common slip.",
          "transformers 5.18 accepts a linear factor of 0.25 with a log line (measured)",
          check};
}

}  // namespace gyre::inspect
