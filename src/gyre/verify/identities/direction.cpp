// The direction of the rotation: q gains +angle with its position. Turning both q and k backwards
// still depends on distance alone, which is why a test of relative scores misses it; the scores are
// those of the mirrored distance.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 16, kPairs = kDim / 2, kTokens = 12;

// sum_m Re[z_q conj(z_k) e^{i sign (i - j) theta}], (x, y) = (m, m + P)
double score(const Turned& raw, const std::vector<double>& bands, int64_t i, int64_t j, int sign) {
  double sum = 0.0;
  for (int64_t m = 0; m < kPairs; ++m) {
    const double qx = raw.q.at(0, 0, i, m), qy = raw.q.at(0, 0, i, m + kPairs);
    const double kx = raw.k.at(0, 0, j, m), ky = raw.k.at(0, 0, j, m + kPairs);
    const double angle = sign * static_cast<double>(i - j) * bands[static_cast<size_t>(m)];
    const double real = qx * kx + qy * ky, imag = qy * kx - qx * ky;
    sum += real * std::cos(angle) - imag * std::sin(angle);
  }
  return sum;
}

CheckResult run(const Subject& subject) {
  const auto bands = geometric(10000.0, kPairs, kDim);
  const auto plan = plan_of(bands, kDim);
  const Turned raw{normal_rows("direction q", {1, 1, kTokens, kDim}),
                   normal_rows("direction k", {1, 1, kTokens, kDim})};
  Tally tally;
  // A quarter turn by hand: (1, 0) at position 1 and 1 rad becomes (cos 1, sin 1).
  const Rows unit = repeated({1.0, 0.0}, 1);
  const Rows turned = rotated(subject, {unit, unit}, {1}, plan_of({1.0}, 2)).q;
  tally.at_most(std::abs(turned.at(0, 0, 0, 0) - 0.5403023058681398), 1e-15, "cos 1");
  tally.at_most(std::abs(turned.at(0, 0, 0, 1) - 0.8414709848078965), 1e-15, "sin 1");

  const Turned forward = rotated(subject, raw, count_from(0, kTokens), plan);
  std::vector<int64_t> negative;
  for (int64_t t = 0; t < kTokens; ++t) {
    negative.push_back(-t);
  }
  const Turned backward = rotated(subject, raw, negative, plan);
  const auto scores = dots(forward.q, forward.k), mirrored = dots(backward.q, backward.k);
  const auto single = dots(forward.q, backward.k);
  double single_seen = 0.0, double_seen = 0.0;
  for (int64_t i = 0; i < kTokens; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      const auto a = static_cast<size_t>(i), b = static_cast<size_t>(j);
      const double expected = score(raw, bands, i, j, 1);
      tally.at_most(std::abs(scores[a][b] - expected), 1e-13, "score ", i, ",", j);
      tally.at_most(std::abs(mirrored[a][b] - score(raw, bands, i, j, -1)), 1e-13,
                    "both flipped = mirrored distance, ", i, ",", j);
      single_seen = std::max(single_seen, std::abs(single[a][b] - expected));
      double_seen = std::max(double_seen, std::abs(mirrored[a][b] - expected));
    }
  }
  tally.at_least(single_seen, 0.1, "keys alone flipped are noticed");
  tally.at_least(double_seen, 0.1, "both flipped are noticed by the reference");
  return tally.result(
      str("flipped keys move a score by ", single_seen, ", both flipped by ", double_seen));
}

}  // namespace

Identity direction() {
  return {"direction", "P13", "Direction of the rotation",
          "hand calculation; equations 2.1: s = Re[z_q conj(z_k) e^{i(i-j)theta}]; 1e-13: 16 terms",
          run};
}

}  // namespace gyre::verify
