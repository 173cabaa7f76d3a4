#include "gyre/accept/quality/cells.h"

#include <algorithm>
#include <cstdio>

#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kBaselineItems = 10;   // per bucket
constexpr double kBaselineAlpha = 0.05;  // of each bound of the baseline
constexpr double kCutShare = 0.1;        // of a baseline whose answers need a larger budget

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f %%", 100.0 * share);
  return text;
}

Cell cell_of(const Spec& spec, Arm arm, int64_t length) {
  Cell cell;
  cell.level = spec.level;
  cell.task = spec.task;
  cell.arm = name_of(arm);
  cell.length = length;
  cell.dials = spec.dials;
  return cell;
}

std::vector<BucketCount> by_bucket(const std::vector<Judged>& outcomes) {
  std::vector<BucketCount> out(kBuckets);
  for (const Judged& outcome : outcomes) {
    BucketCount& bucket = out[static_cast<size_t>(outcome.slot.bucket)];
    ++bucket.n;
    bucket.correct += outcome.ok();
  }
  return out;
}

double spread_by_index(const std::vector<Judged>& outcomes) {
  std::map<int64_t, BucketCount> clusters;
  for (const Judged& outcome : outcomes) {
    BucketCount& cluster = clusters[outcome.slot.index];
    ++cluster.n;
    cluster.correct += outcome.ok();
  }
  std::vector<BucketCount> list;
  for (const auto& [index, cluster] : clusters) {
    list.push_back(cluster);
  }
  return design_effect(list, 1);
}

LookPlan look_plan(const AcceptOptions& options) {
  return {options.looks, kBuckets, options.alpha};
}

/// Slots of the next look in the buckets that have not reached the threshold yet.
std::vector<Slot> next_slots(const Decision& so_far, double threshold, int64_t first,
                             int64_t last) {
  std::vector<Slot> out = slots(first, last);
  std::erase_if(out, [&](const Slot& slot) {
    return !so_far.lower.empty() && so_far.lower[static_cast<size_t>(slot.bucket)] >= threshold;
  });
  return out;
}

void note_decision(Cell& cell, const Decision& decision) {
  cell.status = decision.status;
  cell.needs_about = decision.needs_about;
  cell.worst = decision.worst;
  for (size_t i = 0; i < cell.buckets.size(); ++i) {
    cell.buckets[i].lower = decision.lower[i];
    cell.buckets[i].upper = decision.upper[i];
  }
}

/// Failed requests count as failures; beyond a share they forbid a PASS as well.
void forbid_errors(Cell& cell) {
  const int64_t failed = cell.asked - cell.answered;
  const double share = static_cast<double>(failed) / static_cast<double>(cell.asked);
  if (failed > 0) {
    cell.says = str(failed, " of ", cell.asked, " requests failed (", percent(share), ")");
  }
  if (cell.status == Status::Pass && share > kMostErrors) {
    cell.status = Status::Undecided;
    cell.says += ": no PASS above 2 %";
  }
}

Measure baseline_measure(const Spec& spec, const Baseline& baseline, const AcceptOptions& options) {
  Measure out;
  out.id = "baseline";
  out.title = "right at the original length, without filler";
  out.level = spec.level;
  out.length = options.original_length;
  out.n = baseline.n;
  out.task = spec.label();
  out.value = baseline.n > 0
                  ? static_cast<double>(baseline.correct) / static_cast<double>(baseline.n)
                  : kUnknown;
  out.lo = baseline.lower;
  out.hi = baseline.upper;
  char text[128];
  std::snprintf(text, sizeof text, "threshold %.3f = %g of the lower bound %.3f",
                baseline.threshold, options.threshold, baseline.lower);
  out.says = baseline.why_not.empty() ? text : baseline.why_not;
  return out;
}

std::vector<Judged> ask_baseline(Examiner& examiner, const Spec& spec) {
  const AcceptOptions& options = examiner.bench().options;
  const int64_t length = options.original_length;
  const int64_t items = std::min(kBaselineItems, options.looks.front());
  while (true) {
    auto outcomes = examiner.ask(spec, length, Arm::Short, slots(0, items));
    const auto cut = std::count_if(outcomes.begin(), outcomes.end(), [](const Judged& outcome) {
      return outcome.verdict == Verdict::Cut;
    });
    const bool many = static_cast<double>(cut) > kCutShare * static_cast<double>(outcomes.size());
    if (!many || cut == static_cast<int64_t>(outcomes.size()) || !examiner.raise_budget()) {
      return outcomes;
    }
  }
}

}  // namespace

const Judged* CellRun::find(const Slot& slot) const {
  const auto at = std::find_if(outcomes.begin(), outcomes.end(), [&](const Judged& outcome) {
    return outcome.slot.bucket == slot.bucket && outcome.slot.index == slot.index;
  });
  return at == outcomes.end() ? nullptr : &*at;
}

void count(Cell& cell, const std::vector<Judged>& outcomes) {
  for (const Judged& outcome : outcomes) {
    const bool failed = outcome.verdict == Verdict::Error;
    ++cell.verdicts[name_of(outcome.verdict)];
    ++cell.asked;
    cell.answered += !failed;
    cell.correct += outcome.ok();
    if (!outcome.ok()) {
      cell.failures.push_back(outcome.sid);
    }
    if (!cell.buckets.empty()) {
      const size_t at = cell.buckets.size() > 1 ? static_cast<size_t>(outcome.slot.bucket) : 0;
      ++cell.buckets[at].n;
      cell.buckets[at].correct += outcome.ok();
      cell.buckets[at].errors += failed;
    }
  }
}

Baseline run_baseline(Examiner& examiner, const Spec& spec) {
  const AcceptOptions& options = examiner.bench().options;
  Baseline out;
  Cell cell = cell_of(spec, Arm::Short, options.original_length);
  cell.buckets.resize(1);
  out.why_not = examiner.gone();
  if (out.why_not.empty()) {
    out.why_not = examiner.probe(spec, options.original_length, Arm::Short);
  }
  if (out.why_not.empty()) {
    const auto outcomes = ask_baseline(examiner, spec);
    count(cell, outcomes);
    // Failed requests say nothing about the model; a threshold must not sink with them.
    out.n = cell.answered;
    out.correct = cell.correct;
    out.lower = wilson_lower(out.correct, out.n, kBaselineAlpha);
    out.upper = wilson_upper(out.correct, out.n, kBaselineAlpha);
    out.threshold = options.threshold * out.lower;
    if (out.n == 0) {
      out.why_not = str("no baseline: ", outcomes[0].fault);
    } else if (static_cast<double>(out.correct) < kAble * static_cast<double>(out.n)) {
      out.why_not = str("not able at the original length: ", out.correct, " of ", out.n, " right");
    }
  }
  cell.planned = std::max(cell.asked, kBuckets * std::min(kBaselineItems, options.looks.front()));
  cell.buckets[0].lower = out.lower;
  cell.buckets[0].upper = out.upper;
  cell.status = out.why_not.empty() ? Status::Pass
                : cell.asked > 0    ? Status::Undecided
                                    : Status::NotRun;
  (cell.asked > 0 ? cell.says : cell.why_not_run) = out.why_not;
  examiner.bench().result.cells.push_back(cell);
  examiner.bench().result.measures.push_back(baseline_measure(spec, out, options));
  return out;
}

CellRun skip_cell(Examiner& examiner, const Spec& spec, int64_t length, const std::string& why) {
  CellRun run{cell_of(spec, Arm::Main, length), spec, {}};
  run.cell.planned = kBuckets * examiner.bench().options.looks.back();
  run.cell.buckets.resize(kBuckets);
  run.cell.why_not_run = why;
  return run;
}

CellRun run_cell(Examiner& examiner, const Spec& spec, int64_t length, const Baseline& baseline) {
  const AcceptOptions& options = examiner.bench().options;
  CellRun run = skip_cell(examiner, spec, length, baseline.why_not);
  run.cell.threshold = baseline.threshold;
  if (!baseline.why_not.empty()) {
    return run;
  }
  const LookPlan plan = look_plan(options);
  Decision decision;
  int64_t asked = 0;
  for (const int64_t look : plan.looks) {
    const auto wanted = next_slots(decision, baseline.threshold, asked, look);
    std::vector<Judged> more;
    try {
      more = examiner.ask(spec, length, Arm::Main, wanted);
    } catch (const Error& error) {
      if (error.code() != Code::Usage) {
        throw;
      }
      return skip_cell(examiner, spec, length, kNoRoom + std::string(error.what()));
    }
    run.outcomes.insert(run.outcomes.end(), more.begin(), more.end());
    decision = decide(by_bucket(run.outcomes), baseline.threshold, plan);
    asked = look;
    if (decision.status != Status::Undecided || !examiner.gone().empty()) {
      break;
    }
  }
  count(run.cell, run.outcomes);
  note_decision(run.cell, decision);
  forbid_errors(run.cell);
  run.cell.design_effect = spread_by_index(run.outcomes);
  return run;
}

CellRun run_control(Examiner& examiner, const Spec& spec, int64_t length, Arm arm,
                    const std::vector<Slot>& wanted) {
  CellRun run{cell_of(spec, arm, length), spec, {}};
  run.cell.buckets.resize(1);
  run.cell.planned = static_cast<int64_t>(wanted.size());
  try {
    run.outcomes = examiner.ask(spec, length, arm, wanted);
  } catch (const Error& error) {
    if (error.code() != Code::Usage) {
      throw;
    }
    run.cell.why_not_run = kNoRoom + std::string(error.what());
    return run;
  }
  count(run.cell, run.outcomes);
  run.cell.buckets[0].lower = wilson_lower(run.cell.correct, run.cell.asked, kBaselineAlpha);
  run.cell.buckets[0].upper = wilson_upper(run.cell.correct, run.cell.asked, kBaselineAlpha);
  return run;
}

}  // namespace gyre::accept
