// For every distance r there is a key whose score is largest exactly there: k = R^r q.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 64, kPairs = kDim / 2, kKeys = 64;

// k = R^r q chunk by chunk, by complex arithmetic.
std::vector<double> turned_by(const std::vector<double>& q, const std::vector<double>& bands,
                              int64_t r) {
  std::vector<double> k(q.size());
  for (size_t m = 0; m < kPairs; ++m) {
    const double c = exact_cos(bands[m], r), s = exact_sin(bands[m], r);
    k[m] = q[m] * c - q[m + kPairs] * s;
    k[m + kPairs] = q[m] * s + q[m + kPairs] * c;
  }
  return k;
}

// The last token's row alone: scores of the others would be n times the work.
Rows last_of(const Rows& rows) {
  return repeated({rows.values.end() - rows.head_dim, rows.values.end()}, 1);
}

CheckResult run(const Subject& subject) {
  const auto bands = geometric(10000.0, kPairs, kDim);
  const auto plan = plan_of(bands, kDim);
  const std::vector<double> q = normal_rows("any distance", {1, 1, 1, kDim}).values;
  double norm = 0.0;
  for (const double x : q) {
    norm += x * x;
  }
  Tally tally;
  double margin = INFINITY;
  Curve curve{"key made for distance 40", "distance, tokens", "score / |q|^2", {}, {}};
  const int64_t near = subject.quick ? 8 : 1, far = subject.quick ? 370 : 37;
  for (int64_t r = 0; r < 1024; r += r < kKeys ? near : far) {
    const int64_t n = r < kKeys ? kKeys : r + 60;
    const Turned raw{repeated(q, n), repeated(turned_by(q, bands, r), n)};
    const Turned turned = rotated(subject, raw, count_from(0, n), plan);
    const auto scores = dots(last_of(turned.q), turned.k).front();
    int64_t best = 0;
    double second = -INFINITY;
    for (int64_t distance = 0; distance < n; ++distance) {
      const double score = scores[static_cast<size_t>(n - 1 - distance)];
      double expected = 0.0;
      for (size_t m = 0; m < kPairs; ++m) {
        expected +=
            (q[m] * q[m] + q[m + kPairs] * q[m + kPairs]) * exact_cos(bands[m], distance - r);
      }
      tally.at_most(std::abs(score - expected), 1e-11, "r ", r, ", distance ", distance);
      best = score > scores[static_cast<size_t>(n - 1 - best)] ? distance : best;
      second = distance == r ? second : std::max(second, score);
      if (r == 40) {
        curve.x.push_back(static_cast<double>(distance));
        curve.y.push_back(score / norm);
      }
    }
    tally.require(best == r, "r ", r, ": largest score at distance ", best);
    tally.at_most(std::abs(scores[static_cast<size_t>(n - 1 - r)] - norm), 1e-11, "r ", r,
                  ": peak");
    margin = std::min(margin, norm - second);
  }
  return tally.result(str("peak |q|^2 = ", norm, ", smallest margin to the runner-up ", margin),
                      {curve});
}

}  // namespace

Identity any_distance() {
  return {"any-distance", "R07", "A key exists whose attention is largest at any chosen distance",
          "Barbero et al. 2024, prop. 3.1, arXiv:2410.06205; 1e-11: 64 terms of size |q|^2", run};
}

}  // namespace gyre::verify
