// One identity = one file in identities/ and one line in identities.def: a claim about positions
// that must hold, checked with numbers. `gyre verify` runs them all.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/verify/subject.h"

namespace gyre::verify {

/// A curve or table that the page draws and `--json` holds.
struct Curve {
  std::string name;
  std::string x_label, y_label;
  std::vector<double> x, y;
};

/// docs/file-formats.md, "gyre.verify/1", checks[].
struct CheckResult {
  std::string id;
  bool passed = false;
  double worst = 0.0;      // largest deviation seen
  double tolerance = 0.0;  // and the largest allowed
  std::string where;       // where the worst was seen: "m=4711 n=12 pair 3"
  std::string note;        // one line of numbers a reader wants to see
  std::vector<Curve> curves;
};

struct Identity {
  std::string id;      // "rotation-composes"
  std::string claim;   // ids of the claims it shows: "P02"
  std::string title;   // one line
  std::string source;  // paper and equation, and where the tolerance comes from
  CheckResult (*run)(const Subject& subject);
};

const std::vector<Identity>& identities();

}  // namespace gyre::verify
