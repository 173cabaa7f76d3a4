// Two implementations of the linear bias may differ by a constant per row (slope * (j - L) against
// slope * (j - L + 1)): the softmax is the same, so a checker must compare weights, not biases.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

// Softmax of scale q.k + bias over keys 0 .. i.
std::vector<double> softmax_row(const Turned& raw, int64_t i, double slope, double origin) {
  std::vector<double> row;
  double sum = 0.0;
  for (int64_t j = 0; j <= i; ++j) {
    double dot = 0.0;
    for (int64_t d = 0; d < raw.q.head_dim; ++d) {
      dot += raw.q.at(0, 0, i, d) * raw.k.at(0, 0, j, d);
    }
    row.push_back(std::exp(dot / std::sqrt(static_cast<double>(raw.q.head_dim)) +
                           slope * (static_cast<double>(j) - origin)));
    sum += row.back();
  }
  for (double& weight : row) {
    weight /= sum;
  }
  return row;
}

CheckResult run(const Subject& subject) {
  constexpr int64_t kTokens = 21, kDim = 8;
  const Turned raw{normal_rows("row constant q", {1, 1, kTokens, kDim}),
                   normal_rows("row constant k", {1, 1, kTokens, kDim})};
  position::LayerPlan layer;
  layer.slopes = {0.25};
  const Rows weights = weights_of(subject, raw, layer);
  Tally tally;
  for (int64_t i = 0; i < kTokens; ++i) {
    // j - L, j - L + 1 (vllm#945), j alone, and j - i as gyre has it.
    for (const double origin :
         {double{kTokens}, double{kTokens} - 1.0, 0.0, static_cast<double>(i)}) {
      const auto row = softmax_row(raw, i, 0.25, origin);
      for (int64_t j = 0; j <= i; ++j) {
        tally.at_most(std::abs(weights.at(0, 0, i, j) - row[static_cast<size_t>(j)]), 1e-13,
                      "case 35: query ", i, ", key ", j, ", origin ", origin);
      }
    }
    const auto other = softmax_row(raw, i, 0.26, static_cast<double>(i));
    double seen = 0.0;
    for (int64_t j = 0; j <= i; ++j) {
      seen = std::max(seen, std::abs(weights.at(0, 0, i, j) - other[static_cast<size_t>(j)]));
    }
    tally.at_least(i < 2 ? 1.0 : seen, 1e-4, "another slope is noticed, query ", i);
  }
  return tally.result("four origins of the bias give one softmax; slope 0.26 for 0.25 does not");
}

}  // namespace

Identity bias_row_constant() {
  return {"bias-row-constant", "P04, case 35", "Linear biases equal up to a row constant",
          "softmax is invariant to a constant; vllm#945; 1e-13: 21 exponentials", run};
}

}  // namespace gyre::verify
