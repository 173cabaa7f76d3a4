// Two partial factors in one file.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const RawKey* newer = text_key(model, "partial_rotary_factor");
  const RawKey* older = text_key(model, "rotary_pct");
  if (!std::isnan(key_number(newer)) && !std::isnan(key_number(older)) &&
      newer->number != older->number) {
    found.push_back(
        error(newer->path, newer->text, older->text,
              str("partial factor is ", older->text, " at ", older->path, " and ", newer->text,
                  " at ", newer->path, "; each reader takes one of the two; make them equal")));
  }
  const std::vector<RopeBlock> blocks = rope_blocks(model);
  for (const char* name : {"partial_rotary_factor", "rotary_pct"}) {
    const RawKey* outer = text_key(model, name);
    if (std::isnan(key_number(outer))) {
      continue;
    }
    for (const RopeBlock& block : blocks) {
      const double nested = block.number("partial_rotary_factor");
      // With one block per layer kind the outer value may be that of any of them.
      const bool agrees = std::any_of(blocks.begin(), blocks.end(), [&](const RopeBlock& other) {
        return other.number("partial_rotary_factor") == outer->number &&
               (other.path == block.path || !block.kind.empty());
      });
      if (!std::isnan(nested) && !agrees) {
        found.push_back(error(
            block.at("partial_rotary_factor"), text_of(nested), outer->text,
            str("partial factor is ", outer->text, " at ", outer->path, " and ", text_of(nested),
                " in ", block.path, "; transformers v5 takes ", text_of(nested),
                ", readers of the older key ", outer->text, "; make them equal")));
      }
    }
  }
  return found;
}

}  // namespace

Rule partial_factor_conflict_rule() {
  return {"partial-factor-conflict",
          Severity::Error,
          "The file rotates one number of pairs in one reader and another in the next.",
          "Write the same factor in both places, or one of them only.",
          "chrishayuk/larql#404; measured on transformers 5.18: top 0.5, nested 0.25 gives "
          "0.25",
          check};
}

}  // namespace gyre::inspect
