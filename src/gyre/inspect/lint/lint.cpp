// The list of rules (rules.def) and the run over all of them.
#include <algorithm>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {

#define GYRE_RULE(name) Rule name##_rule();
#include "gyre/inspect/lint/rules.def"
#undef GYRE_RULE

const std::vector<Rule>& rules() {
  static const std::vector<Rule> list = {
#define GYRE_RULE(name) name##_rule(),
#include "gyre/inspect/lint/rules.def"
#undef GYRE_RULE
  };
  return list;
}

std::vector<Finding> lint(const ResolvedModel& model) {
  std::vector<Finding> all;
  for (const Rule& rule : rules()) {
    for (Finding& one : findings_of(rule, model)) {
      all.push_back(std::move(one));
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return all;
}

}  // namespace gyre::inspect
