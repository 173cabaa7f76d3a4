// Runs the identities on a subject, the table faults x checks, and what is verified of one scheme's
// plan.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "gyre/verify/identity.h"

namespace gyre::verify {

/// One line of the table: an identity with what it found.
struct Check {
  std::string id, claim, title, source;
  CheckResult result;
};

/// Called before each check with its number and id.
using OnCheck = std::function<void(size_t number, size_t total, const std::string& id)>;

/// Every identity, in order. A check that throws has failed; its message is in `where`.
std::vector<Check> run_battery(const Subject& subject, const OnCheck& on_check = {});
bool all_passed(const std::vector<Check>& checks);

struct FaultRow {
  std::string name, summary;
  std::vector<std::string> caught_by;  // ids of the checks that failed
  int64_t needs_tokens = 0;            // > 0: not put in, as it shows in more than so many tokens

  bool missed() const { return caught_by.empty() && needs_tokens == 0; }
};

/// The battery under every known fault, with fewer random draws.
std::vector<FaultRow> run_faults(const OnCheck& on_check = {});

/// Checks of the plan that a scheme makes: table, relative scores, reference, continuation,
/// storage.
///
/// throws  Error(Usage) on an unknown scheme or option
std::vector<Check> check_scheme(const Subject& subject, const std::string& spec);

}  // namespace gyre::verify
