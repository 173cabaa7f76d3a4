#include "gyre/accept/acceptance.h"

#include <algorithm>
#include <iterator>

#include "gyre/accept/quality/spec.h"
#include "gyre/accept/regression.h"
#include "gyre/accept/text_nll.h"
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

/// Planned cells that are not asked: reported, with the reason.
void add_not_run(Acceptance& result, const std::vector<Spec>& specs, const std::string& why) {
  for (const int64_t length : result.options.lengths) {
    for (const Spec& spec : specs) {
      Cell cell;
      cell.level = spec.level;
      cell.task = spec.task;
      cell.length = length;
      cell.dials = spec.dials;
      cell.planned = kBuckets * result.options.looks.back();
      cell.buckets.resize(kBuckets);
      cell.why_not_run = why;
      result.cells.push_back(std::move(cell));
    }
  }
}

const char* why_ranked(const AcceptOptions& options) {
  return options.ranking == "on"
             ? "candidates were ranked instead (--ranking on)"
             : "does not read codes back at the original length: candidates were ranked instead";
}

/// Level 1 asked and nothing ever came back: every further request would wait for nothing.
bool silent(const Bench& bench) {
  return bench.result.one.ran && !bench.session.answered();
}

void skip_quality(Bench& bench) {
  const char* why = "no request of level 1 was answered";
  if (wants(bench.options, 2)) {
    add_not_run(bench.result, retrieval_specs(bench.options), why);
  }
  if (wants(bench.options, 3)) {
    add_not_run(bench.result, composition_specs(bench.options), why);
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
    add_not_run(bench.result, composition_specs(options), why_ranked(options));
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
  std::optional<Before> before;
  if (!options.before.empty()) {
    before.emplace(options.before, options, "");  // throws before anything is sent
  }
  if (wants(options, 1)) {
    run_level_one(bench);
  } else {
    result.facts = session.subject().discover();
  }
  result.subject = session.subject().name();  // a model that was not named is known now
  if (silent(bench)) {
    skip_quality(bench);
  } else {
    if (wants(options, 2) || wants(options, 3)) {
      run_text_nll(bench);
    }
    run_quality(bench);  // lengths that level 1 saw fail are not asked: each cell says so
  }
  if (options.curves && !silent(bench)) {
    run_curves(bench);
  }
  result.subject = session.subject().name();  // the model may only be known now
  const std::vector<Sample> samples = record.samples();
  std::copy_if(samples.begin(), samples.end(), std::back_inserter(result.failures),
               [](const Sample& sample) { return !sample.ok(); });
  result.cost = cost_of(samples);
  if (before) {
    result.regression = before->compare(samples);
    if (auto delta = text_nll_delta(before->samples(), samples)) {
      result.measures.push_back(*std::move(delta));
    }
  }
  conclude(result);
  return result;
}

}  // namespace gyre::accept
