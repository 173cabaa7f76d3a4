#include "gyre/accept/acceptance.h"

#include <algorithm>

#include "gyre/accept/regression.h"

namespace gyre::accept {
namespace {

bool wants(const AcceptOptions& options, int64_t level) {
  return std::find(options.levels.begin(), options.levels.end(), level) != options.levels.end();
}

}  // namespace

Acceptance accept(Session& session, const Record& record, const AcceptOptions& options) {
  Acceptance result;
  result.subject = session.subject().name();
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
  // Lengths that level 1 saw fail are not asked again: each cell says so (quality/examiner).
  if (wants(options, 2)) {
    run_retrieval(bench);
  }
  if (wants(options, 3)) {
    run_composition(bench);
  }
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
