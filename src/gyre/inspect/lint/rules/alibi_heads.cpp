// ALiBi with a head count that is no power of two.
#include <bit>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  for (const LayerKind& kind : model.kinds) {
    const size_t heads = kind.plan.slopes.size();
    if (heads == 0 || std::has_single_bit(heads)) {
      continue;
    }
    return {note(
        kind.name + ": slopes", std::to_string(heads), "",
        str(heads, " heads are no power of two: released code takes the ", std::bit_floor(heads),
            " slopes of ", std::bit_floor(heads), " heads and every second of ",
            2 * std::bit_floor(heads), ", the paper's text 2^(-8h/", heads, "); first slope here ",
            digits(kind.plan.slopes.front())))};
  }
  return {};
}

}  // namespace

Rule alibi_heads_rule() {
  return {"alibi-heads",
          Severity::Note,
          "Two conventions are in use for such head counts and give different slopes to every "
          "head.",
          "Nothing in the file; check that the reader has the convention of the training "
          "code.",
          "Press et al. 2022, arXiv:2108.12409, and its released code; paiml/aprender#2143",
          check};
}

}  // namespace gyre::inspect
