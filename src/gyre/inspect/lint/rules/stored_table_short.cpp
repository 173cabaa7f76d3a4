// Stored cos and sin tables shorter than the length the file admits.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/tables.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const LayerKind* kind = nullptr;
  for (const LayerKind& one : model.kinds) {
    kind = kind == nullptr && one.rotary_dim > 0 && one.base > 0.0 ? &one : kind;
  }
  if (kind == nullptr || model.max_length <= 0) {
    return found;
  }
  for (const ResolvedModel::Table& table : model.tables) {
    const auto n = static_cast<int64_t>(table.values.size());
    // A row holds one value per rotated channel, or one per pair: sure only if both are short.
    const int64_t most_rows = n / std::max<int64_t>(1, kind->n_pairs());
    if (!is_angle_cache(table) || n == 0 || most_rows >= model.max_length) {
      continue;
    }
    const int64_t rows = n / kind->rotary_dim;
    found.push_back(error(
        table.name, str(rows, " rows"), str(model.max_length, " rows"),
        str("stored table has ", rows, " rows, but the file admits ", model.max_length,
            " tokens: position ", rows, " has no angle; rebuild the table or lower the length")));
  }
  return merge_alike(std::move(found));
}

}  // namespace

Rule stored_table_short_rule() {
  return {"stored-table-short",
          Severity::Error,
          "A position past the last row reads another row or other memory.",
          "Rebuild the table for the admitted length, or admit no more than it has rows.",
          "pegainfer#220, vllm-project/vllm#55910",
          check};
}

}  // namespace gyre::inspect
