// One query and one key, three ways to see distance: rotation, linear bias, local window.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 32, kLength = 129, kWindow = 32;

CheckResult run(const Subject& subject) {
  const auto q = normal_rows("three q", {1, 1, 1, kDim}).values;
  const auto k = normal_rows("three k", {1, 1, 1, kDim}).values;
  double plain = 0.0;
  for (size_t d = 0; d < kDim; ++d) {
    plain += q[d] * k[d];
  }
  const double scale = 1.0 / std::sqrt(double{kDim});
  const Turned raw{repeated(q, kLength), repeated(k, kLength)};
  const auto rotating = subject.plan("rope", request_of(kDim));
  const auto biased = subject.plan("alibi", request_of(kDim, 8));
  const Turned turned = rotated(subject, raw, count_from(0, kLength), rotating);
  const auto scores = dots(turned.q, turned.k).back();

  position::LayerPlan linear, local;
  linear.slopes = {biased.layers[0].slopes[3]};  // 2^-4
  local.mask.window = kWindow;
  const Rows linear_weights = weights_of(subject, raw, linear);
  const Rows local_weights = weights_of(subject, raw, local);

  const auto bands = geometric(10000.0, kDim / 2, kDim);
  std::vector<Curve> curves{{"rotation", "distance, tokens", "score", {}, {}},
                            {"linear bias", "distance, tokens", "score", {}, {}},
                            {"window 32", "distance, tokens", "score", {}, {}}};
  Tally tally;
  for (int64_t distance = 0; distance < kLength; ++distance) {
    const int64_t j = kLength - 1 - distance;
    double expected = 0.0;
    for (size_t m = 0; m < kDim / 2; ++m) {
      const double real = q[m] * k[m] + q[m + kDim / 2] * k[m + kDim / 2];
      const double imag = q[m + kDim / 2] * k[m] - q[m] * k[m + kDim / 2];
      expected += real * exact_cos(bands[m], distance) - imag * exact_sin(bands[m], distance);
    }
    const double rotation = scores[static_cast<size_t>(j)];
    tally.at_most(std::abs(rotation - expected), 1e-12, "rotation, distance ", distance);
    // Scores up to a row constant, from ratios of weights to that of the query itself.
    const double ratio =
        linear_weights.at(0, 0, kLength - 1, j) / linear_weights.at(0, 0, kLength - 1, kLength - 1);
    const double bias = -static_cast<double>(distance) / 16.0;
    tally.at_most(std::abs(std::log(ratio) - bias), 1e-11, "linear bias, distance ", distance);
    const double inside = distance < kWindow ? 1.0 / kWindow : 0.0;
    tally.at_most(std::abs(local_weights.at(0, 0, kLength - 1, j) - inside), 1e-15,
                  "window, distance ", distance);
    for (Curve& curve : curves) {
      curve.x.push_back(static_cast<double>(distance));
    }
    curves[0].y.push_back(rotation * scale);
    curves[1].y.push_back(plain * scale + std::log(ratio));
    curves[2].y.push_back(distance < kWindow ? plain * scale : NAN);
  }
  return tally.result(str("content alone scores ", plain * scale,
                          "; a score is not a weight: the rest of the row decides too"),
                      curves);
}

}  // namespace

Identity three_schemes() {
  return {
      "three-schemes", "P05, P20, P25", "Rotation, linear bias and window on one q, k pair",
      "Su et al. 2021; Press et al. 2022; Beltagy et al. 2020; 1e-12: 32 terms, 1e-11 through a "
      "logarithm",
      run};
}

}  // namespace gyre::verify
