// Bounds of the llama3 blend in the wrong order.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const double low = block.number("low_freq_factor");
    const double high = block.number("high_freq_factor");
    if (block.type != "llama3" || std::isnan(low) || std::isnan(high) || (low <= high && low > 0)) {
      continue;
    }
    found.push_back(error(
        block.at("low_freq_factor"), text_of(low), "above 0 and at most high_freq_factor",
        str("low_freq_factor ", text_of(low), " must be above 0 and at most high_freq_factor ",
            text_of(high), "; Llama 3.1 has 1 and 4")));
  }
  return found;
}

}  // namespace

Rule llama3_bands_rule() {
  return {"llama3-bands",
          Severity::Error,
          "Between the two bounds frequencies are blended; in the wrong order pairs jump "
          "between kept and divided.",
          "low_freq_factor <= high_freq_factor (equal, as in Llama 4 Scout: a hard step instead of "
          "a blend); Llama 3.1 to 3.3 have 1 and 4.",
          "transformers 5.18 accepts low 4 > high 1 with a log line (measured)",
          check};
}

}  // namespace gyre::inspect
