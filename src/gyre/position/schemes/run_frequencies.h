// Frequencies that a run ended with, and schemes built on them: `frozen` as they are, extension
// methods changed for a longer context.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "gyre/position/extension.h"
#include "gyre/position/scheme.h"

namespace gyre::position {

/// The last line of RUN/frequencies.jsonl (docs/file-formats.md) laid over the layers asked for.
/// Error(Usage) when layers, heads or pairs do not fit the request; Error(Format) on a bad file.
PositionPlan run_plan(std::string_view scheme, const std::string& run, PairLayout layout,
                      const PlanRequest& request);

/// Options that extension methods share.
struct ExtendedOptions {
  double base = 10000.0;
  int64_t rotary = 0;  // R; 0 = the whole head
  std::string from;
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("base", base,
      "band m turns base^(-2m/R) rad per token before the change; the ruler of `from`");
    v("rotary", rotary, "leading channels that rotate, R; 0 = the whole head");
    v("from", from, "run directory whose last frequencies are extended instead of the base's");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,R/2); unstated = the model\'s");
  }
};

/// The frequencies to extend: the run's, or base^(-2m/R). Checks base, rotary and head dim.
PositionPlan unextended_plan(std::string_view scheme, const ExtendedOptions& options,
                             const PlanRequest& request);

/// Replaces every row of frequencies.
void change_bands(PositionPlan& plan, const std::function<Bands(const Bands&)>& change);

/// Error(Usage) unless factor >= 1.
void check_factor(std::string_view scheme, double factor);

/// `given`, or the request's training length when it is 0; Error(Usage) when that is unknown too.
int64_t original_length(std::string_view scheme, int64_t given, const PlanRequest& request);

/// The length of the sequence at hand, 0 when nothing is known.
int64_t sequence_length(const PlanRequest& request);

}  // namespace gyre::position
