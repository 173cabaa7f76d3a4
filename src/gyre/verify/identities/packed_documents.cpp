// Documents packed in one row: the mask between documents matters; under rotation alone, restarting
// positions does not.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 16;

Rows part(const Rows& rows, int64_t first, int64_t n) {
  Rows out = zero_rows({1, 1, n, kDim});
  for (int64_t t = 0; t < n; ++t) {
    for (int64_t d = 0; d < kDim; ++d) {
      out.at(0, 0, t, d) = rows.at(0, 0, first + t, d);
    }
  }
  return out;
}

Rows output(const Subject& subject, const Keyed& raw, const std::vector<int64_t>& positions) {
  const auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim);
  const Turned turned = rotated(subject, {raw.q, raw.k}, positions, plan);
  return attended(subject, {turned.q, turned.k, raw.v}, plan.layers[0]);
}

CheckResult run(const Subject& subject) {
  const Keyed row{normal_rows("packed q", {1, 1, 5, kDim}),
                  normal_rows("packed k", {1, 1, 5, kDim}),
                  normal_rows("packed v", {1, 1, 5, kDim})};
  const Keyed second{part(row.q, 3, 2), part(row.k, 3, 2), part(row.v, 3, 2)};  // lengths 3, 2
  const Rows reset = output(subject, second, {0, 1});
  const Rows running = output(subject, second, {3, 4});
  const Rows unmasked = part(output(subject, row, count_from(0, 5)), 3, 2);
  Tally tally;
  tally.at_most(max_difference(reset, running), 1e-13, "case 41: positions 0 1 and 3 4, own mask");
  tally.at_least(max_difference(reset, unmasked), 1e-2, "case 41: without the mask it differs");
  // Within one document a wrong distance would be noticed.
  tally.at_least(max_difference(reset, output(subject, second, {0, 3})), 1e-3, "case 41: a gap");
  // A chunk mask is the document mask of documents of equal length.
  auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim);
  plan.layers[0].mask.chunk = 3;
  const Turned turned = rotated(subject, {row.q, row.k}, count_from(0, 5), plan);
  const Rows chunked = part(attended(subject, {turned.q, turned.k, row.v}, plan.layers[0]), 3, 2);
  tally.at_most(max_difference(chunked, reset), 1e-13, "case 41: chunk mask of 3");
  return tally.result(str("the mask moves outputs by ", max_difference(reset, unmasked),
                          ", the restart by rounding"));
}

}  // namespace

Identity packed_documents() {
  return {"packed-documents", "P14, case 41",
          "Packed documents: the mask matters, the restart does not",
          "OpenRLHF#587, nanoVLM#201; 1e-13: sums of 16 terms in float64", run};
}

}  // namespace gyre::verify
