#include "gyre/accept/quality/grid.h"

#include <algorithm>
#include <map>

#include "gyre/accept/quality/measures.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kControlItems = 8;

/// Effects of length: each cell against the same cell of the length before.
void compare_lengths(std::vector<Measure>& measures, const std::vector<CellRun>& before,
                     const std::vector<CellRun>& now) {
  for (size_t i = 0; i < before.size() && i < now.size(); ++i) {
    if (!before[i].outcomes.empty() && !now[i].outcomes.empty()) {
      measures.push_back(
          paired_effect(before[i], now[i], "effect_length",
                        str(before[i].cell.length, " -> ", now[i].cell.length, " tokens")));
    }
  }
}

/// Outcomes of a finished length are kept for the next one only.
void finish(Examiner& examiner, const std::vector<CellRun>& before,
            const std::vector<CellRun>& now) {
  Acceptance& result = examiner.bench().result;
  for (const CellRun& run : now) {
    result.cells.push_back(run.cell);
  }
  for (Measure& measure : dial_effects(now)) {
    result.measures.push_back(std::move(measure));
  }
  compare_lengths(result.measures, before, now);
}

/// Why nothing is asked at this length, "" = it is asked. Probes with the first able spec.
std::string why_not(Examiner& examiner, const std::vector<Spec>& specs,
                    const std::vector<Baseline>& baselines, int64_t length) {
  if (const std::string forbidden = examiner.forbidden(length); !forbidden.empty()) {
    return forbidden;
  }
  if (!examiner.gone().empty()) {
    return examiner.gone();
  }
  for (size_t i = 0; i < specs.size(); ++i) {
    if (!baselines[i].why_not.empty()) {
      continue;
    }
    try {
      return examiner.probe(specs[i], length, Arm::Main);
    } catch (const Error& error) {
      if (error.code() != Code::Usage) {
        throw;
      }  // no room for this task; another may have some
    }
  }
  return "";
}

}  // namespace

int64_t control_items(const AcceptOptions& options) {
  return std::min(kControlItems, options.looks.front());
}

void run_grid(Examiner& examiner, const std::vector<Spec>& specs,
              const std::function<void(int64_t, std::vector<CellRun>&)>& controls) {
  std::vector<Baseline> baselines;
  for (const Spec& spec : specs) {
    baselines.push_back(run_baseline(examiner, spec));
  }
  std::vector<CellRun> before;
  for (const int64_t length : examiner.bench().options.lengths) {
    const std::string reason = why_not(examiner, specs, baselines, length);
    std::vector<CellRun> now;
    for (size_t i = 0; i < specs.size(); ++i) {
      const std::string& why = reason.empty() ? examiner.gone() : reason;
      now.push_back(why.empty() ? run_cell(examiner, specs[i], length, baselines[i])
                                : skip_cell(examiner, specs[i], length, why));
    }
    finish(examiner, before, now);
    if (reason.empty() && examiner.gone().empty()) {
      controls(length, now);
    }
    for (Measure& measure : verdict_shares(now, specs[0].level, length)) {
      examiner.bench().result.measures.push_back(std::move(measure));
    }
    before = std::move(now);
  }
}

}  // namespace gyre::accept
