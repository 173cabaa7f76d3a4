// Static YaRN changes short prompts too: which pairs, how much.
#include <cmath>

#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

Finding moved(const RopeBlock& block, const LayerKind& kind, double factor, double original) {
  position::YarnRamp ramp;
  ramp.original = original;
  ramp.beta_fast = std::isnan(block.number("beta_fast")) ? 32.0 : block.number("beta_fast");
  ramp.beta_slow = std::isnan(block.number("beta_slow")) ? 1.0 : block.number("beta_slow");
  const RawKey* truncate = block.find("truncate");
  ramp.truncate = truncate == nullptr || truncate->number != 0.0;
  const auto bounds = position::yarn_ramp_bounds(kind.base, kind.rotary_dim, ramp);
  const std::vector<double> plain = plain_table(kind);
  const auto table = position::yarn_bands(plain, factor, kind.base, kind.rotary_dim, bounds);
  size_t first = 0;
  while (first < plain.size() && std::abs(table[first] / plain[first] - 1.0) < 1e-12) {
    ++first;
  }
  const auto given = [&block](const char* name) {
    const double value = block.number(name);
    return std::isnan(value) ? 0.0 : value;
  };
  const double amplitude = position::yarn_attention_factor(
      factor, given("mscale"), given("mscale_all_dim"), given("attention_factor"));
  return note(block.path, block.spelled, "",
              str("this scaling holds at every length: in prompts under ", text_of(original),
                  " tokens too, pairs after ", digits(std::floor(bounds.low), 4), " (", first,
                  " to ", plain.size() - 1, ", ", plain.size() - first, " of ", plain.size(),
                  ") turn slower and the amplitude is ", digits(amplitude)));
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double factor = block.number("factor");
    const double original = original_length(model, block);
    const std::vector<const LayerKind*> kinds = kinds_of(model, block);
    if (block.type == "yarn" && factor > 1.0 && original > 0.0 && !kinds.empty()) {
      found.push_back(moved(block, *kinds.front(), factor, original));
    }
  }
  return found;
}

}  // namespace

Rule yarn_static_rule() {
  return {"yarn-static",
          Severity::Note,
          "Not a fault: a model that was not tuned with the scaling loses some quality on "
          "short prompts.",
          "Serve short prompts without the block, or tune with it.",
          "QwenLM/Qwen3#1567, vllm-project/vllm#18728",
          check};
}

}  // namespace gyre::inspect
