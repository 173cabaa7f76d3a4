// How far a rotary table is off, by position, for every storage type and for the shortcuts that are
// met in the field. Exact: extended precision. Head dim 128, base 10000.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/verify/subject.h"

namespace gyre::verify {

struct PrecisionRow {
  std::string method;         // "bfloat16 angles"
  std::string kind;           // "gyre": measured on the subject; "shortcut": arithmetic shown here
  std::vector<double> worst;  // per position: largest |cos - exact| or |sin - exact| over the bands
};

struct PrecisionTable {
  std::vector<int64_t> positions;
  std::vector<PrecisionRow> rows;
};

PrecisionTable precision_table(const Subject& subject);

}  // namespace gyre::verify
