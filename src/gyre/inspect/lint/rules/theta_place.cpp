// rope_theta where one generation of readers does not look, or in two places with two values.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

Finding contradiction(const RopeBlock& block, const RawKey& nested, const RawKey& top) {
  return error(nested.path, nested.text, top.text,
               str("rope_theta is ", top.text, " at ", top.path, " and ", nested.text, " at ",
                   nested.path, "; transformers v5 takes the one in ", last_part(block.path),
                   ", v4 and many converters the other; make them equal"));
}

Finding nested_only(const RopeBlock& block, const RawKey& nested) {
  const std::string message =
      str("rope_theta stands in ", block.path, " alone; a v4 reader does not look there and uses ",
          "its class default instead of ", nested.text);
  return block.parameters
             ? note(nested.path, nested.text, "", message)
             : warning(nested.path, nested.text, "", message + "; write it beside rope_scaling");
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const std::vector<RopeBlock> blocks = rope_blocks(model);
  for (const RopeBlock& block : blocks) {
    const RawKey* nested = block.find("rope_theta");
    if (nested == nullptr || nested->type != RawType::Number) {
      continue;
    }
    const RawKey* top = beside(model, block, "rope_theta");
    if (top == nullptr || top->type != RawType::Number) {
      const bool told = std::any_of(found.begin(), found.end(), [](const Finding& one) {
        return one.severity == Severity::Note;
      });
      if (!told || !block.parameters) {  // once for all layer kinds
        found.push_back(nested_only(block, *nested));
      }
      continue;
    }
    // With one block per layer kind the outer value may be that of any of them.
    const bool agrees = std::any_of(blocks.begin(), blocks.end(), [&](const RopeBlock& other) {
      return other.scope == block.scope && other.number("rope_theta") == top->number &&
             (other.path == block.path || !block.kind.empty());
    });
    if (!agrees) {
      found.push_back(contradiction(block, *nested, *top));
    }
  }
  return found;
}

}  // namespace

Rule theta_place_rule() {
  return {"theta-place",
          Severity::Error,
          "transformers v5 reads rope_theta inside rope_parameters, v4 readers and many "
          "converters at the top level; each falls back on a class default without a word.",
          "Write the same value in both places, or only where the reader at hand looks.",
          "transformers v5 key layout; AI-Hypercomputer/maxtext#4616, chrishayuk/larql#404 "
          "(the same for the partial factor)",
          check};
}

}  // namespace gyre::inspect
