#include "gyre/verify/battery.h"

#include <c10/util/Exception.h>

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"

namespace gyre::verify {
namespace {

CheckResult failed(const std::string& what) {
  CheckResult result;
  result.worst = NAN;
  result.where = "stopped: " + what.substr(0, what.find('\n'));
  return result;
}

// A broken subject may be refused by the operation itself, which is also a way to notice it.
CheckResult run_one(const Identity& identity, const Subject& subject) {
  try {
    return identity.run(subject);
  } catch (const c10::Error& e) {
    return failed(e.what_without_backtrace());
  } catch (const std::exception& e) {
    return failed(e.what());
  }
}

}  // namespace

std::vector<Check> run_battery(const Subject& subject, const OnCheck& on_check) {
  std::vector<Check> checks;
  for (const Identity& identity : identities()) {
    if (on_check) {
      on_check(checks.size(), identities().size(), identity.id);
    }
    CheckResult result = run_one(identity, subject);
    result.id = identity.id;
    checks.push_back(
        {identity.id, identity.claim, identity.title, identity.source, std::move(result)});
  }
  return checks;
}

bool all_passed(const std::vector<Check>& checks) {
  return std::all_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.result.passed; });
}

std::vector<FaultRow> run_faults(const OnCheck& on_check) {
  std::vector<FaultRow> rows;
  for (const Fault& fault : faults()) {
    if (on_check) {
      on_check(rows.size(), faults().size(), fault.name);
    }
    Subject subject = faulty_subject(fault.name);
    subject.quick = true;
    FaultRow row{fault.name, fault.summary, {}};
    for (const Check& check : run_battery(subject)) {
      if (!check.result.passed) {
        row.caught_by.push_back(check.id);
      }
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace gyre::verify
