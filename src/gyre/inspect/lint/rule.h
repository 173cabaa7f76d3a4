// One lint rule = one file in rules/ and one line in rules.def, as with position schemes.
#pragma once

#include <string>
#include <vector>

#include "gyre/inspect/finding.h"
#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

/// What is printed by `gyre inspect --rules` and in docs/inspect.md.
struct Rule {
  std::string id;
  Severity severity = Severity::Error;  // of most of its findings; a finding may be milder
  std::string why;                      // what goes wrong in a model that has it
  std::string fix;
  std::string source;  // public report, paper or code that showed it
  std::vector<Finding> (*check)(const ResolvedModel& model);
};

const std::vector<Rule>& rules();

/// Findings of every rule, errors first.
std::vector<Finding> lint(const ResolvedModel& model);

}  // namespace gyre::inspect
