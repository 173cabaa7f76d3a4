#include "gyre/accept/acceptance.h"

#include <algorithm>
#include <iterator>

#include "gyre/accept/quality/spec.h"
#include "gyre/accept/regression.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

bool wants(const AcceptOptions& options, int64_t level) {
  return std::find(options.levels.begin(), options.levels.end(), level) != options.levels.end();
}

/// A model that cannot read codes back at the original length gives no answers to judge; what it
/// finds likely still tells what it uses.
bool ranks(const Acceptance& result) {
  const AcceptOptions& options = result.options;
  return options.ranking == "on" ||
         (options.ranking == "auto" && result.one.ran && !result.one.able);
}

/// Planned cells that ranking stands in for: reported, with the reason.
void add_not_run(Acceptance& result, const std::vector<Spec>& specs) {
  for (const int64_t length : result.options.lengths) {
    for (const Spec& spec : specs) {
      Cell cell;
      cell.level = spec.level;
      cell.task = spec.task;
      cell.length = length;
      cell.dials = spec.dials;
      cell.planned = kBuckets * result.options.looks.back();
      cell.buckets.resize(kBuckets);
      cell.why_not_run = result.options.ranking == "on"
                             ? "candidates were ranked instead (--ranking on)"
                             : "does not read codes back at the original length: candidates were "
                               "ranked instead";
      result.cells.push_back(std::move(cell));
    }
  }
}

/// Ranking stands in the place of level 2; level 3 needs answers.
void run_quality(Bench& bench) {
  const AcceptOptions& options = bench.options;
  const bool ranked = ranks(bench.result);
  if (wants(options, 2)) {
    ranked ? run_ranking(bench) : run_retrieval(bench);
  }
  if (!wants(options, 3)) {
    return;
  }
  if (ranked) {
    add_not_run(bench.result, composition_specs(options));
  } else {
    run_composition(bench);
  }
}

}  // namespace

Acceptance accept(Session& session, const Record& record, const AcceptOptions& options) {
  Acceptance result;
  result.generator = str("prompts version ", kGeneratorVersion);
  result.options = options;
  Bench bench{session, options, result};
  if (!options.before.empty()) {
    Record::read_only(options.before);  // throws before anything is sent
  }
  if (wants(options, 1)) {
    run_level_one(bench);
  } else {
    result.facts = session.subject().discover();
  }
  run_quality(bench);  // lengths that level 1 saw fail are not asked: each cell says so
  if (options.curves) {
    run_curves(bench);
  }
  result.subject = session.subject().name();  // the model may only be known now
  const std::vector<Sample> samples = record.samples();
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(result.failures),
               [](const Sample& sample) { return !sample.ok(); });
  result.cost = cost_of(samples);
  if (!options.before.empty()) {
    result.regression = compare_with(options.before, samples);
  }
  conclude(result);
  return result;
}

}  // namespace gyre::accept
