// Scores depend on distance alone: a common shift of all positions changes nothing, a shift of the
// keys alone does.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kTokens = 24, kDim = 32;

double difference(const std::vector<std::vector<double>>& a,
                  const std::vector<std::vector<double>>& b) {
  double worst = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) {
      worst = std::max(worst, std::abs(a[i][j] - b[i][j]));
    }
  }
  return worst;
}

CheckResult run(const Subject& subject) {
  const auto plan = subject.plan("rope", request_of(kDim));
  const Turned raw{normal_rows("shift q", {1, 1, kTokens, kDim}),
                   normal_rows("shift k", {1, 1, kTokens, kDim})};
  Tally tally;
  double one_sided = INFINITY;
  // float64: 64 terms of size 1 and the rounding of angles near 1e6; float32: claim P14.
  for (const auto& [precision, tolerance] :
       {std::pair(Precision::F64, 1e-12), std::pair(Precision::F32, 1e-5)}) {
    const Turned here = rotated(subject, raw, count_from(0, kTokens), plan, 0, precision);
    const auto scores = dots(here.q, here.k);
    for (const int64_t shift : {int64_t{1}, int64_t{1000}, int64_t{131072}, int64_t{1000000}}) {
      const Turned there = rotated(subject, raw, count_from(shift, kTokens), plan, 0, precision);
      tally.at_most(difference(scores, dots(there.q, there.k)), tolerance, "common shift ", shift,
                    precision == Precision::F64 ? ", float64" : ", float32");
      const double moved = difference(scores, dots(here.q, there.k));
      one_sided = std::min(one_sided, moved);
      tally.at_least(moved, 0.1, "shift of the keys alone by ", shift);
    }
  }
  return tally.result(str("keys alone shifted: scores move by ", one_sided, " or more"));
}

}  // namespace

Identity shift_invariance() {
  return {"shift-invariance", "P14, P09",
          "A common shift leaves scores alone, a one-sided one does not",
          "Su et al. 2021, eq. (16); 1e-5 in float32: claim P14", run};
}

}  // namespace gyre::verify
