// Frequency tables that are no frequencies: NaN, zeros, rising, uninitialised.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/tables.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

// What is wrong with values that should fall and stay above 0; "" = nothing.
std::string fault(const std::vector<double>& values, bool zeros_may_end) {
  for (size_t m = 0; m < values.size(); ++m) {
    if (!std::isfinite(values[m])) {
      return str("pair ", m, " is ", text_of(values[m]));
    }
  }
  if (std::all_of(values.begin(), values.end(), [](double f) { return f == 0.0; })) {
    return str("all ", values.size(), " values are 0");
  }
  size_t n = values.size();
  while (zeros_may_end && n > 0 && values[n - 1] == 0.0) {
    --n;
  }
  for (size_t m = 0; m < n; ++m) {
    if (values[m] <= 0.0) {
      return str("pair ", m, " is ", text_of(values[m]), ", not above 0");
    }
    if (m > 0 && values[m] >= values[m - 1]) {
      return str("pair ", m, " is ", digits(values[m]), ", not below pair ", m - 1, " with ",
                 digits(values[m - 1]));
    }
  }
  return "";
}

void look_at_stored(const ResolvedModel& model, std::vector<Finding>& found) {
  for (const ResolvedModel::Table& table : model.tables) {
    if (!is_inv_freq(table) || table.values.empty()) {
      continue;
    }
    const auto expected = expected_tables(model, table.values.size());
    const bool zeros = std::any_of(expected.begin(), expected.end(),
                                   [](const auto& row) { return row.back() == 0.0; });
    const std::string what = fault(table.values, zeros);
    if (!what.empty()) {
      found.push_back(error(table.name, digits(table.values.front()), "1, falling",
                            str("stored frequency table is not usable: ", what,
                                "; it must begin at 1 and fall, as after a load that left memory ",
                                "uninitialised; recompute it from the base")));
    }
  }
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  look_at_stored(model, found);
  // Learned tables of a run may have any order; lists of divisors may bend a table a little.
  const bool any_order = model.source == SourceKind::Run;
  for (const LayerKind& kind : model.kinds) {
    if (kind.base <= 0.0 || kind.plan.inv_freq.empty() || kind.plan.inv_freq[0].empty()) {
      continue;
    }
    const std::string what = fault(kind.plan.inv_freq[0], true);
    const bool order = what.find("not below") != std::string::npos;
    if (!what.empty() && !(order && (any_order || !kind.long_inv_freq.empty()))) {
      found.push_back(error(kind.name + ": frequencies", digits(kind.plan.inv_freq[0][0]),
                            "falling values above 0",
                            str("the file's keys give an unusable frequency table: ", what,
                                "; check base, factor and lists of divisors")));
    }
  }
  return merge_alike(std::move(found));
}

}  // namespace

Rule table_invalid_rule() {
  return {"table-invalid",
          Severity::Error,
          "A non-persistent table left uninitialised after a meta-device load, or keys that "
          "give NaN or 0, rotate by garbage.",
          "Recompute inv_freq from the base after loading; f0 = 1 and strictly falling.",
          "unslothai/unsloth#4112, transformers#45902, #48892",
          check};
}

}  // namespace gyre::inspect
