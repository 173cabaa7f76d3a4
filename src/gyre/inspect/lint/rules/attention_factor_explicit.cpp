// An amplitude that differs from what the formula gives.
#include <cmath>

#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

double formula(const ResolvedModel& model, const RopeBlock& block) {
  const double factor = block.number("factor");
  const double original = original_length(model, block);
  if (block.type == "yarn" && factor >= 1.0) {
    const double one = block.number("mscale");
    const double all = block.number("mscale_all_dim");
    return position::yarn_attention_factor(factor, std::isnan(one) ? 0.0 : one,
                                           std::isnan(all) ? 0.0 : all);
  }
  const double longest = key_number(beside(model, block, "max_position_embeddings"));
  const double ratio = factor >= 1.0 ? factor : longest / original;  // a given factor wins
  if (block.type == "longrope" && original > 1.0 && ratio > 0.0) {
    return position::longrope_attention_factor(ratio, original);
  }
  return std::nan("");
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const RawKey* key = block.find("attention_factor");
    if (key == nullptr || key->type != RawType::Number) {
      continue;
    }
    if (!(key->number > 0.0) || !std::isfinite(key->number)) {
      found.push_back(error(key->path, key->text, "a number above 0",
                            str("attention_factor must be above 0, found ", key->text)));
      continue;
    }
    const double usual = formula(model, block);
    if (std::isnan(usual) || std::abs(key->number / usual - 1.0) < 1e-6) {
      continue;
    }
    found.push_back(note(key->path, key->text, digits(usual),
                         str("amplitude ", key->text, " is given; the formula would give ",
                             digits(usual), ": a reader that drops the key has logits x",
                             digits(usual * usual / (key->number * key->number), 7))));
  }
  return found;
}

}  // namespace

Rule attention_factor_explicit_rule() {
  return {"attention-factor-explicit",
          Severity::Note,
          "Readers with a list of allowed keys drop it and use the formula; cos and sin, and "
          "so the logits, are then too large.",
          "Nothing in the file; check that the reader passes the key on.",
          "vllm-project/vllm#46280, ml-explore/mlx-lm#1507, Avarok-Cybersecurity/atlas#342",
          check};
}

}  // namespace gyre::inspect
