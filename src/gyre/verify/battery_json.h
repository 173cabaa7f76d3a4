// What `gyre verify` found, as JSON (gyre.verify/1) and as a table for a terminal.
#pragma once

#include <string>
#include <vector>

#include "gyre/verify/battery.h"
#include "gyre/verify/precision.h"

namespace gyre::verify {

struct Verification {
  std::string subject = "gyre";  // what was verified: "gyre", "scheme SPEC", "model PATH"
  std::string fault;             // "" = none
  std::vector<Check> checks;
  PrecisionTable precision;
  std::vector<FaultRow> faults;  // with --faults
  double seconds = 0.0;
};

/// docs/file-formats.md, "gyre.verify/1". Numbers that are not finite are null.
std::string to_json(const Verification& verification);

/// Checks, precision and faults that are there, one table each, then a line with the outcome.
std::string to_text(const Verification& verification);

/// Whether every check passed and every fault was caught.
bool passed(const Verification& verification);

}  // namespace gyre::verify
