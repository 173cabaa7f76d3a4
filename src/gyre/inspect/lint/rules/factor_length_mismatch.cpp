// The factor against what the two lengths say.
#include <cmath>

#include "gyre/inspect/lint/known_lengths.h"
#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

struct Claim {
  double factor, original, longest;
  std::string key, original_key, longest_key;
  bool yarn = false;
};

std::vector<Finding> judge(const Claim& claim, const KnownLength& known) {
  const double implied = claim.longest / claim.original;
  if (!(claim.factor >= 1.0) || !(implied > 0.0) || claim.factor == implied) {
    return {};
  }
  if (implied == 1.0) {
    return {note(claim.longest_key, text_of(claim.longest), text_of(claim.factor * claim.original),
                 str(claim.longest_key, " is still the original length ", text_of(claim.original),
                     "; the factor ", text_of(claim.factor), " reaches ",
                     text_of(claim.factor * claim.original),
                     ", but a reader that stops there will not admit more"))};
  }
  std::string message =
      str("factor is ", text_of(claim.factor), ", but ", claim.longest_key, " / ",
          claim.original_key, " = ", text_of(claim.longest), " / ", text_of(claim.original), " = ",
          digits(implied), "; the factor given wins");
  if (claim.yarn) {
    message +=
        str(" (amplitude ", digits(position::yarn_mscale(claim.factor)),
            "; a reader that takes the ratio gets ", digits(position::yarn_mscale(implied)), ")");
  }
  // The block was added as the model card says and the published length left alone.
  const bool recipe =
      claim.longest == known.admitted && claim.original == known.trained && implied < claim.factor;
  return {(recipe ? note : warning)(claim.key, text_of(claim.factor), digits(implied),
                                    message + "; make the three agree")};
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const KnownLength known = known_length(model);
  for (const RopeBlock& block : rope_blocks(model)) {
    // llama3's factor is no ratio of lengths (8 for 8192 -> 131072 in Llama 3.1 itself).
    const bool own_length = block.find("original_max_position_embeddings") != nullptr &&
                            (block.type == "linear" || block.type == "dynamic");
    if (block.type == "yarn" || block.type == "longrope" || own_length) {
      const Claim claim{block.number("factor"),
                        original_length(model, block),
                        key_number(beside(model, block, "max_position_embeddings")),
                        block.at("factor"),
                        "original_max_position_embeddings",
                        "max_position_embeddings",
                        block.type == "yarn"};
      const std::vector<Finding> more = judge(claim, known);
      found.insert(found.end(), more.begin(), more.end());
    }
  }
  const RawKey* type = gguf_key(model, "rope.scaling.type");
  if (type != nullptr && type->text == "yarn") {
    const Claim claim{gguf_number(model, "rope.scaling.factor"),
                      gguf_number(model, "rope.scaling.original_context_length"),
                      gguf_number(model, "context_length"),
                      model.model_type + ".rope.scaling.factor",
                      "original_context_length",
                      "context_length",
                      true};
    const std::vector<Finding> more = judge(claim, known);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace

Rule factor_length_mismatch_rule() {
  return {"factor-length-mismatch",
          Severity::Warning,
          "Readers that take the ratio of the lengths instead of the factor rotate "
          "differently and scale logits differently.",
          "Make factor = max_position_embeddings / original_max_position_embeddings, or raise "
          "or lower the length. llama3 blocks are exempt: their factor is no ratio of "
          "lengths. The recipe of a model card, whose published length is left alone, gets a "
          "note.",
          "huggingface/transformers#38224",
          check};
}

}  // namespace gyre::inspect
