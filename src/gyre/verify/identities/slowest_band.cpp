// Turns of the slowest band up to 128k tokens for base 10k and 500k.
#include <numbers>

#include "gyre/verify/phase.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

CheckResult run(const Subject& subject) {
  Tally tally;
  // The published number takes theta = 1 / base: 128000 / (2 pi 10000) = 2.04.
  tally.at_most(std::abs(turns(1.0 / 10000.0, 128000) - 2.04), 0.005, "limit 1 / base, base 10000");
  tally.at_most(std::abs(turns(1.0 / 500000.0, 128000) - 0.0407), 5e-5, "limit, base 500000");
  std::string note = "limit 1/base at 128000: 2.04 and 0.041 turns";
  std::vector<Curve> curves;
  for (const double base : {10000.0, 500000.0}) {
    const auto plan = subject.plan(str("rope:base=", base), request_of(128));
    const double slowest = plan.layers[0].inv_freq[0].back();
    const double expected = 128000.0 / (2.0 * std::numbers::pi) * std::pow(base, -126.0 / 128.0);
    tally.at_most(std::abs(turns(slowest, 128000) / expected - 1.0), 1e-14, "last pair, base ",
                  base);
    Curve curve{str("slowest band, base ", base), "tokens", "cos(theta_min * tokens)", {}, {}};
    std::vector<int64_t> positions;
    for (int64_t position = 0; position <= 128000; position += 500) {
      positions.push_back(position);
    }
    const TableRows table = table_rows(subject, plan, positions);
    for (size_t t = 0; t < positions.size(); ++t) {
      tally.at_most(std::abs(table.cos[t].back() - exact_cos(slowest, positions[t])), 1e-13,
                    "drift, base ", base, ", position ", positions[t]);
      curve.x.push_back(static_cast<double>(positions[t]));
      curve.y.push_back(table.cos[t].back());
    }
    curves.push_back(std::move(curve));
    note += str("; last pair of d 128, base ", base, ": ",
                std::round(turns(slowest, 128000) * 1000.0) / 1000.0);
  }
  return tally.result(note, curves);
}

}  // namespace

Identity slowest_band() {
  return {"slowest-band", "R32", "Turns of the slowest band to 128k tokens",
          "Barbero et al. 2024, sec. 6, arXiv:2410.06205: 2.04; 1e-13: rounding of the table", run};
}

}  // namespace gyre::verify
