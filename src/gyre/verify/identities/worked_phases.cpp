// The worked example: cos at distance 32 for 1, 0.1 and 0.01 rad per token, and the curves.
#include "gyre/verify/phase.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

CheckResult run(const Subject& subject) {
  const std::vector<double> thetas{1.0, 0.1, 0.01};
  const std::vector<double> printed{0.834, -0.998, 0.949};  // P45
  const auto plan = plan_of(thetas, 6);
  const TableRows table = table_rows(subject, plan, count_from(0, 129));
  Tally tally;
  std::vector<Curve> curves;
  for (size_t m = 0; m < thetas.size(); ++m) {
    const std::vector<double> drawn = phase_curve(thetas[m], 128);
    Curve curve{
        str("phase theta=", thetas[m]), "distance, tokens", "cos(theta * distance)", {}, {}};
    for (int64_t delta = 0; delta <= 128; ++delta) {
      const auto row = static_cast<size_t>(delta);
      const double expected = std::cos(thetas[m] * static_cast<double>(delta));
      tally.at_most(std::abs(table.cos[row][m] - expected), 1e-13, "table, theta ", thetas[m],
                    ", distance ", delta);
      tally.at_most(std::abs(table.sin[row][m] - std::sin(thetas[m] * static_cast<double>(delta))),
                    1e-13, "table sine, theta ", thetas[m], ", distance ", delta);
      tally.at_most(std::abs(drawn[row] - expected), 1e-13, "curve, theta ", thetas[m]);
      curve.x.push_back(static_cast<double>(delta));
      curve.y.push_back(table.cos[row][m]);
    }
    tally.at_most(std::abs(std::round(table.cos[32][m] * 1000.0) / 1000.0 - printed[m]), 1e-12,
                  "distance 32, theta ", thetas[m]);
    curves.push_back(std::move(curve));
  }
  return tally.result(
      str("distance 32: ", table.cos[32][0], ", ", table.cos[32][1], ", ", table.cos[32][2]),
      curves);
}

}  // namespace

Identity worked_phases() {
  return {"worked-phases", "P45, P03, P06", "Phases of 1, 0.1, 0.01 rad at distance 32",
          "hand calculation: cos 32, cos 3.2, cos 0.32; 1e-13: rounding of the product at 128",
          run};
}

}  // namespace gyre::verify
