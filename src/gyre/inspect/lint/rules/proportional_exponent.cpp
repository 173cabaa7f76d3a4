// Exponents over the head, not over the rotated part.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double factor = block.number("partial_rotary_factor");
    if (block.type != "proportional" || !(factor > 0.0) || factor >= 1.0) {
      continue;
    }
    for (const LayerKind* kind : kinds_of(model, block)) {
      const auto head = static_cast<double>(kind->head_dim);
      const double right = std::pow(kind->base, -2.0 / head);
      const double wrong = std::pow(kind->base, -2.0 / std::floor(head * factor));
      found.push_back(
          note(block.at("rope_type"), block.spelled, "",
               str("exponents are spread over all ", kind->head_dim,
                   " dims: f1 = ", digits(right, 9), "; a reader that divides by the rotated ",
                   text_of(std::floor(head * factor)), " dims gets ", digits(wrong, 9))));
    }
  }
  return found;
}

}  // namespace

Rule proportional_exponent_rule() {
  return {"proportional-exponent",
          Severity::Note,
          "A reader that treats proportional as an ordinary partial rotation turns every pair "
          "but the first too slowly.",
          "Nothing in the file; check that the reader divides by head_dim.",
          "pegainfer#820",
          check};
}

}  // namespace gyre::inspect
