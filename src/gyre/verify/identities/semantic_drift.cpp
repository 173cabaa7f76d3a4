// Why cutting slow bands helps meaning: a pure match in a rotating band turns negative at distance
// ceil(pi / (2 theta)), however slow the band; a band that stands still never does.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

CheckResult run(const Subject& subject) {
  Tally tally;
  std::string note;
  for (const double base : {10000.0, 500000.0}) {
    const auto bands = geometric(base, 64, 128);
    for (size_t m = 0; m < bands.size(); m += 9) {
      const auto turn = static_cast<int64_t>(std::ceil(3.14159265358979323846 / (2.0 * bands[m])));
      const Rows unit = repeated({1.0, 0.0}, 3);
      const Turned at = rotated(subject, {unit, unit}, {0, turn - 1, turn}, plan_of({bands[m]}, 2));
      const auto scores = dots(at.q, at.k);
      tally.require(scores[1][0] >= 0.0, "base ", base, " pair ", m, ": distance ", turn - 1,
                    " must still match");
      tally.require(scores[2][0] < 0.0, "base ", base, " pair ", m, ": distance ", turn,
                    " must be negative");
      if (m == 63) {
        note += str(note.empty() ? "slowest band turns negative at " : " (base 10000), ", turn);
      }
    }
  }
  return tally.result(note + " tokens (base 500000)");
}

}  // namespace

Identity semantic_drift() {
  return {"semantic-drift", "R05, R32", "A match in a rotating band turns negative with distance",
          "Barbero et al. 2024, thm. 6.1, arXiv:2410.06205, in practical form ceil(pi / 2 theta)",
          run};
}

}  // namespace gyre::verify
