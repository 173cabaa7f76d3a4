// Frequency tables stored in half precision, and the phase error that makes.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/tables.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

double last_position(const ResolvedModel& model) {
  const double longest =
      model.max_length > 0 ? static_cast<double>(model.max_length) : max_length(model);
  return longest - 1.0;
}

bool was_rounded(const std::vector<double>& values, Half half) {
  return std::all_of(values.begin(), values.end(),
                     [half](double f) { return rounded(f, half) == f; });
}

// Warning for each stored table whose values went through half precision.
void look_at_stored(const ResolvedModel& model, std::vector<Finding>& found) {
  const double last = last_position(model);
  for (const ResolvedModel::Table& table : model.tables) {
    if (!is_inv_freq(table) || table.values.size() < 4 || !(last > 0.0)) {
      continue;
    }
    Half half = half_of(table.dtype);
    const bool widened = half == Half::None && was_rounded(table.values, Half::Bf16);
    half = widened ? Half::Bf16 : half;
    const auto tables = expected_tables(model, table.values.size());
    if (half == Half::None || tables.empty()) {
      continue;
    }
    const PhaseError worst = phase_error(tables.front(), last, half, false);
    if (worst.rad > 1e-3) {
      found.push_back(
          warning(table.name, half_name(half), "float32",
                  str("frequency table ", widened ? "went through " : "stored in ", half_name(half),
                      ": phase error up to ", digits(worst.rad, 4), " rad (pair ", worst.pair,
                      ") at position ", text_of(last), "; recompute it in float32")));
    }
  }
}

// Note for a model in half precision: what casting the table along with it would do.
void look_at_dtype(const ResolvedModel& model, std::vector<Finding>& found) {
  const double last = last_position(model);
  const Half half = half_of(model.dtype);
  const LayerKind* longest = nullptr;
  for (const LayerKind& kind : model.kinds) {
    const bool rotates = kind.base > 0.0 && !kind.plan.inv_freq.empty();
    longest = rotates && longest == nullptr && kind.plan.mask.window == 0 ? &kind : longest;
  }
  if (half == Half::None || longest == nullptr || !(last > 0.0)) {
    return;
  }
  const PhaseError worst = phase_error(longest->plan.inv_freq[0], last, half, true);
  found.push_back(
      note("dtype", half_name(half), "",
           str("weights are ", half_name(half), "; frequencies and positions must not follow: at ",
               "position ", text_of(last),
               std::isfinite(worst.rad) ? str(" the phase error would be up to ",
                                              digits(worst.rad, 4), " rad (pair ", worst.pair, ")")
                                        : std::string(" the position itself would overflow"),
               "; keep them in float32")));
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  look_at_stored(model, found);
  look_at_dtype(model, found);
  return merge_alike(std::move(found));
}

}  // namespace

Rule table_precision_rule() {
  return {"table-precision",
          Severity::Warning,
          "bfloat16 has 8 significant bits: frequencies are off by up to 0.4 %, positions "
          "above 256 merge, and angles far out are off by radians. A model whose weights are "
          "half precision gets a note with the error a cast of the table would cause.",
          "Keep inv_freq, positions and their product in float32 or wider; recompute the "
          "table after a cast of the module.",
          "EleutherAI/gpt-neox#1003, PR#1016; transformers PR#29285, #29496, #25681",
          check};
}

}  // namespace gyre::inspect
