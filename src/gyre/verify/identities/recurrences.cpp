// One frequency repeats: wavelength 2 pi / theta, and the first whole distance at which the phase
// is back. Faster bands repeat sooner.
#include <numbers>

#include "gyre/verify/phase.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Known {
  double theta;
  int64_t recurrence;  // first distance with cos > 0.999 again, by hand
};

// cos > 0.999 within 0.044725 rad of a whole turn.
// 1 rad: 44 = 7 turns + 0.0177; 22 = 3.5 turns; no smaller multiple is that near.
// 0.1 rad: 63 -> 6.3 = 1 turn + 0.0168. 0.01 rad: 624 -> 6.24 = 1 turn - 0.0432.
constexpr Known kKnown[] = {{1.0, 44}, {0.1, 63}, {0.01, 624}};

CheckResult run(const Subject& subject) {
  Tally tally;
  for (const Known& known : kKnown) {
    const TableRows table = table_rows(subject, plan_of({known.theta}, 2), count_from(0, 700));
    int64_t found = 0;
    bool left = false;
    for (int64_t delta = 1; delta < 700 && found == 0; ++delta) {
      const bool near = table.cos[static_cast<size_t>(delta)][0] > 0.999;
      found = near && left ? delta : 0;
      left = left || !near;
    }
    tally.require(found == known.recurrence, "theta ", known.theta, ": the table recurs at ",
                  found);
    const int64_t searched = first_recurrence(known.theta, 0.999, 700);
    tally.require(searched == known.recurrence, "theta ", known.theta, ": search finds ", searched);
  }
  const auto plan = subject.plan("rope", request_of(64));
  const auto& bands = plan.layers[0].inv_freq[0];
  std::string note = "wavelengths of base 10000, d 64:";
  for (size_t m = 0; m < bands.size(); ++m) {
    const double expected =
        2.0 * std::numbers::pi * std::pow(10000.0, 2.0 * static_cast<double>(m) / 64.0);
    const double wavelength = position::wavelength_tokens(bands[m]);
    tally.at_most(std::abs(wavelength / expected - 1.0), 1e-15, "wavelength of pair ", m);
    tally.require(m == 0 || bands[m] < bands[m - 1], "pair ", m, " must be slower than ", m - 1);
    if (m == 0 || m == 22 || m == 23 || m == 31) {
      note += str(m == 0 ? " " : ", ", "pair ", m, " ", std::round(wavelength * 10.0) / 10.0);
    }
  }
  // equations 2: band 22 has 3533 tokens, band 23 4712.
  tally.at_most(std::abs(position::wavelength_tokens(bands[22]) - 3533.0), 0.5, "pair 22");
  tally.at_most(std::abs(position::wavelength_tokens(bands[23]) - 4712.0), 0.5, "pair 23");
  return tally.result(note);
}

}  // namespace

Identity recurrences() {
  return {"recurrences", "P16, L02", "Wavelengths and first recurrences",
          "hand calculation in the file; 1e-15: rounding of pow", run};
}

}  // namespace gyre::verify
