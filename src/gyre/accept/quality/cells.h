// Cells of levels 2 and 3: the baseline that fixes a threshold, and sequential looks at five
// position buckets until the bounds decide.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/accept/quality/examiner.h"

namespace gyre::accept {

/// Above this share of failed requests no cell passes, whatever the others say.
inline constexpr double kMostErrors = 0.02;
/// A model is able to do a task when its accuracy at the original length is this or more; below, a
/// threshold relative to it would pass anything.
inline constexpr double kAble = 0.5;
/// How a cell that a length has no room for is marked; it counts neither for nor against.
inline constexpr const char* kNoRoom = "no room: ";

/// What the model can do at the original length: evidence, distractors and question without filler.
struct Baseline {
  int64_t n = 0, correct = 0;       // answered
  double lower = 0.0, upper = 1.0;  // one-sided, 95 %
  double threshold = 0.0;           // options.threshold * lower, for every longer cell
  std::string why_not;              // not able, or nothing answered; "" = able
};

/// A cell with what its items came to.
struct CellRun {
  Cell cell;
  Spec spec;
  std::vector<Judged> outcomes;

  /// The outcome of a slot; null when it was not asked.
  const Judged* find(const Slot& slot) const;
};

/// Asks the short arm; its cell and its measure go to the result, so that the threshold stands in
/// the record before any long prompt is sent.
Baseline run_baseline(Examiner& examiner, const Spec& spec);

/// A main cell, look by look.
CellRun run_cell(Examiner& examiner, const Spec& spec, int64_t length, const Baseline& baseline);
/// The same, not asked.
CellRun skip_cell(Examiner& examiner, const Spec& spec, int64_t length, const std::string& why);

/// A control as a cell of one bucket without a decision.
CellRun run_control(Examiner& examiner, const Spec& spec, int64_t length, Arm arm,
                    const std::vector<Slot>& slots);

/// Verdicts, counts and failures of a cell, from its outcomes.
void count(Cell& cell, const std::vector<Judged>& outcomes);

}  // namespace gyre::accept
