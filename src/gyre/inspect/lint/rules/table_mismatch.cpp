// A stored frequency table that is not what the file's own keys give.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/tables.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

bool rounds_to(double stored, double exact, Half half) {
  const double step = half == Half::Bf16 ? 0x1p-8 : half == Half::Fp16 ? 0x1p-11 : 1e-5;
  const double least = half == Half::Fp16 ? 0x1p-25 : 0.0;
  return std::abs(stored - exact) <= step * std::abs(exact) + least;
}

bool agrees(const std::vector<double>& stored, const std::vector<double>& exact, Half half) {
  for (size_t m = 0; m < stored.size(); ++m) {
    if (!rounds_to(stored[m], exact[m], half)) {
      return false;
    }
  }
  return true;
}

bool is_bad(double f) {
  return !std::isfinite(f);
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const ResolvedModel::Table& table : model.tables) {
    if (!is_inv_freq(table) || table.values.empty() ||
        std::any_of(table.values.begin(), table.values.end(), is_bad)) {
      continue;
    }
    const Half half = half_of(table.dtype);
    // Values that passed through half precision may be stored wide again.
    const auto fits = [&](const std::vector<double>& exact) {
      return agrees(table.values, exact, half) || agrees(table.values, exact, Half::Bf16);
    };
    const auto tables = expected_tables(model, table.values.size());
    if (tables.empty() || std::any_of(tables.begin(), tables.end(), fits)) {
      continue;
    }
    const Difference worst = difference(table.values, tables.front());
    found.push_back(
        error(table.name, digits(table.values[worst.pair]), digits(tables.front()[worst.pair]),
              str("stored frequency table differs from what the keys give: pair ", worst.pair,
                  " is ", digits(table.values[worst.pair]), " instead of ",
                  digits(tables.front()[worst.pair]), "; correct the keys or drop the table")));
  }
  return merge_alike(std::move(found));
}

}  // namespace

Rule table_mismatch_rule() {
  return {"table-mismatch",
          Severity::Error,
          "A reader that loads the stored table and one that computes it run two different "
          "models.",
          "Find out which of the two the model was trained with; correct the keys or delete "
          "the tensor.",
          "unslothai/unsloth#4112: a loaded table must equal the recomputed one",
          check};
}

}  // namespace gyre::inspect
