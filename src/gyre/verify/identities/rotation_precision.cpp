// Rotated rows in float32 and bfloat16 against extended-precision arithmetic, by position.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Format {
  Precision precision;
  const char* name;
  double tolerance;  // of |error| / |pair|
};

// Table in double, cast once: the error must not grow with the position.
// float64: rounding of the extended-precision product at 1e6; float32: table, products and sum, 4 x 2^-24;
// bfloat16: input is exact, output is rounded once, 2^-8 at most.
constexpr Format kFormats[] = {{Precision::F64, "float64", 1e-13},
                               {Precision::F32, "float32", 2.4e-7},
                               {Precision::BF16, "bfloat16", 3.91e-3}};

CheckResult run(const Subject& subject) {
  constexpr int64_t kDim = 64;
  const std::vector<int64_t> positions{0, 1, 255, 257, 2047, 4097, 32769, 131071, 1000000};
  const auto n_tokens = static_cast<int64_t>(positions.size());
  const auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim);
  Rows x = normal_rows("rotation-precision", {1, 1, n_tokens, kDim});
  for (double& value : x.values) {  // 3 bits after the point: exact in every format
    value = std::round(value * 8.0) / 8.0;
  }
  Tally tally;
  std::vector<Curve> curves;
  for (const Format& format : kFormats) {
    Curve curve{
        str("rotation error ", format.name), "position", "error / length of the pair", {}, {}};
    const Rows out = rotated(subject, {x, x}, positions, plan, 0, format.precision).q;
    for (int64_t t = 0; t < n_tokens; ++t) {
      double worst = 0.0;
      const int64_t position = positions[static_cast<size_t>(t)];
      for (int64_t m = 0; m < plan.n_pairs(); ++m) {
        const double theta = plan.layers[0].inv_freq[0][static_cast<size_t>(m)];
        const double c = exact_cos(theta, position), s = exact_sin(theta, position);
        const double a = x.at(0, 0, t, m), b = x.at(0, 0, t, m + kDim / 2);
        const double dx = out.at(0, 0, t, m) - (a * c - b * s);
        const double dy = out.at(0, 0, t, m + kDim / 2) - (b * c + a * s);
        worst = std::max(worst, std::hypot(dx, dy) / std::max(1e-9, std::hypot(a, b)));
      }
      tally.at_most(worst, format.tolerance, format.name, ", position ", position);
      curve.x.push_back(static_cast<double>(position));
      curve.y.push_back(worst);
    }
    curves.push_back(std::move(curve));
  }
  return tally.result("errors stay flat from position 0 to 1e6 in all three formats", curves);
}

}  // namespace

Identity rotation_precision() {
  return {"rotation-precision", "P02, R01", "Rotation in float64, float32 and bfloat16 by position",
          "tolerances: unit roundings of each format, see the file", run};
}

}  // namespace gyre::verify
