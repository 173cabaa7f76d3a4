// A trained length that contradicts the extension or what is known of the family.
#include <cmath>

#include "gyre/inspect/lint/known_lengths.h"
#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

std::string ramp_difference(const LayerKind& kind, const RopeBlock& block, double given,
                            double right) {
  position::YarnRamp ramp;
  const double fast = block.number("beta_fast");
  const double slow = block.number("beta_slow");
  ramp.beta_fast = std::isnan(fast) ? 32.0 : fast;
  ramp.beta_slow = std::isnan(slow) ? 1.0 : slow;
  ramp.original = given;
  const auto wrong = position::yarn_ramp_bounds(kind.base, kind.rotary_dim, ramp);
  ramp.original = right;
  const auto good = position::yarn_ramp_bounds(kind.base, kind.rotary_dim, ramp);
  const double factor = block.number("factor");
  const std::vector<double> plain = plain_table(kind);
  const auto is = position::yarn_bands(plain, factor, kind.base, kind.rotary_dim, wrong);
  const auto should = position::yarn_bands(plain, factor, kind.base, kind.rotary_dim, good);
  size_t worst = 0;
  for (size_t m = 0; m < plain.size(); ++m) {
    worst = is[m] / should[m] > is[worst] / should[worst] ? m : worst;
  }
  return str("; ramp over pairs ", digits(wrong.low, 4), " to ", digits(wrong.high, 4),
             " instead of ", digits(good.low, 4), " to ", digits(good.high, 4), ", pair ", worst,
             " is ", digits(is[worst] / should[worst], 5), "x too fast");
}

Finding unlike_family(const ResolvedModel& model, const RopeBlock& block, double given,
                      const KnownLength& known) {
  std::string message = str("original length ", text_of(given), ", but ", known.family,
                            " was trained on ", text_of(known.trained));
  const std::vector<const LayerKind*> kinds = kinds_of(model, block);
  if (block.type == "yarn" && !kinds.empty() && block.number("factor") > 1.0) {
    message += ramp_difference(*kinds.front(), block, given, known.trained);
  }
  return warning(block.at("original_max_position_embeddings"), text_of(given),
                 text_of(known.trained), message + "; write the length before extension");
}

// A length that is not in the file and whose class default is below the trained one.
void look_at_default(const ResolvedModel& model, double given, std::vector<Finding>& found) {
  for (const Provenance& one : model.origins) {
    if (one.field != "max position" || one.origin.kind != OriginKind::ClassDefault) {
      continue;
    }
    double value = 0.0;
    detail::parse(one.value, value);
    if (value < given) {
      found.push_back(warning(
          "max_position_embeddings", "nothing", "the extended length",
          str("max_position_embeddings is not in the file; ", one.origin.where, " takes ",
              text_of(value), ", less than the original length ", text_of(given), "; add it")));
    }
  }
}

void look_at_equal(const ResolvedModel& model, const RopeBlock& block, double given,
                   std::vector<Finding>& found) {
  const KnownLength known = known_length(model);
  const std::string key = block.at("original_max_position_embeddings");
  if (known.trained > 0.0 && known.trained != given && block.number("factor") > 1.0 &&
      (block.type == "yarn" || block.type == "llama3")) {
    found.push_back(unlike_family(model, block, given, known));
    found.back().severity = block.type == "llama3" ? Severity::Error : Severity::Warning;
  } else if (known.trained == 0.0 && (block.type == "llama3" || block.type == "longrope")) {
    found.push_back(warning(
        key, text_of(given), "the length before extension",
        str("original length ", text_of(given), " equals max_position_embeddings, so rope type '",
            block.type, "' extends nothing; one of the two is wrong")));
  }
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double given = original_length(model, block);
    const double longest = key_number(beside(model, block, "max_position_embeddings"));
    const std::string key = block.at("original_max_position_embeddings");
    if (std::isnan(given) || block.type == "default" || block.type.empty()) {
      continue;
    }
    if (!(given > 0.0)) {
      found.push_back(error(key, text_of(given), "a length above 0",
                            str("original length must be above 0, found ", text_of(given))));
    } else if (longest > 0.0 && given > longest) {
      found.push_back(warning(
          key, text_of(given), str("at most ", text_of(longest)),
          str("original length ", text_of(given), " is longer than max_position_embeddings ",
              text_of(longest), "; the two may be exchanged")));
    } else if (given == longest) {
      look_at_equal(model, block, given, found);
    } else if (std::isnan(longest)) {
      look_at_default(model, given, found);
    }
  }
  return found;
}

}  // namespace

Rule original_length_wrong_rule() {
  return {"original-length-wrong",
          Severity::Warning,
          "With the extended length in the place of the trained one the ramp lies too far "
          "right and slow pairs are not slowed. In a llama3 block of Llama 3 it is an error.",
          "Write the length the model was trained on before extension.",
          "NVIDIA/Megatron-LM#1418",
          check};
}

}  // namespace gyre::inspect
