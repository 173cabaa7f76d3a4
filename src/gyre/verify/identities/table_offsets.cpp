// Tables belong to positions, not to lengths: the same number of tokens from another offset,
// another dtype, or past a table's usual size gives its own angles.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

void check_table(const Subject& subject, const position::PositionPlan& plan, int64_t first,
                 bool exact, const char* what, Tally& tally) {
  constexpr int64_t kTokens = 6;
  const TableRows table = table_rows(subject, plan, count_from(first, kTokens), exact);
  for (int64_t t = 0; t < kTokens; ++t) {
    for (size_t m = 0; m < plan.layers[0].inv_freq[0].size(); ++m) {
      const double theta = plan.layers[0].inv_freq[0][m];
      const auto row = static_cast<size_t>(t);
      const double error = std::max(std::abs(table.cos[row][m] - exact_cos(theta, first + t)),
                                    std::abs(table.sin[row][m] - exact_sin(theta, first + t)));
      tally.at_most(error, exact ? 1e-13 : 6.1e-8, what, ": position ", first + t, ", pair ", m);
    }
  }
}

CheckResult run(const Subject& subject) {
  const auto plan = plan_of(geometric(10000.0, 16, 32), 32);
  Tally tally;
  check_table(subject, plan, 0, true, "case 39: offset 0", tally);
  check_table(subject, plan, 4, true, "case 39: offset 4, same length", tally);
  check_table(subject, plan, 0, true, "case 39: offset 0 again", tally);
  check_table(subject, plan, 600, false, "case 48: float32 first", tally);
  check_table(subject, plan, 600, true, "case 48: float64 after float32", tally);
  for (const int64_t first : {4094, 32766, 40954, 131070}) {
    check_table(subject, plan, first, true, "case 40: beyond 4096 rows", tally);
    check_table(subject, plan, first, false, "case 40: beyond 4096 rows, float32", tally);
  }
  // The same tensor, offset 0 then 4: results differ.
  const Rows x = normal_rows("table offsets", {1, 1, 6, 32});
  const Rows zero = rotated(subject, {x, x}, count_from(0, 6), plan).q;
  const Rows four = rotated(subject, {x, x}, count_from(4, 6), plan).q;
  tally.at_least(max_difference(zero, four), 0.1, "case 39: rows rotated from offset 0 and 4");
  return tally.result("offsets 0, 4, 0; float32 then float64; positions around 4096 to 131072");
}

}  // namespace

Identity table_offsets() {
  return {"table-offsets", "P14, cases 39, 40, 48", "A table belongs to its positions and dtype",
          "rotary-embedding-torch#11 and 0.9.1, pegainfer#220, vllm#55910; 6.1e-8: half a unit of "
          "float32",
          run};
}

}  // namespace gyre::verify
