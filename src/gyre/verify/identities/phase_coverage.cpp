// Which part of its circle each band has shown after training at one length, and which bands never
// completed a turn.
#include <algorithm>
#include <numbers>

#include "gyre/verify/phase.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Known {
  double base;
  int64_t dim, length;
  int64_t first;  // first pair that never completes a turn, by hand
};

// m > (d / 2) ln(L / 2 pi) / ln base. 2048, 1e4, d 64: 32 x 5.7867 / 9.2103 = 20.11 -> 21.
// 4096, 1e4, d 128: 64 x 6.4799 / 9.2103 = 45.03 -> 46. 8192, 5e5, d 128: 64 x 7.1730 / 13.1224 =
// 34.98 -> 35.
constexpr Known kKnown[] = {{1e4, 64, 2048, 21}, {1e4, 128, 4096, 46}, {5e5, 128, 8192, 35}};

CheckResult run(const Subject& subject) {
  Tally tally;
  std::string note;
  Curve curve{"turns at 2048, base 10000", "pair", "turns", {}, {}};
  for (const Known& known : kKnown) {
    const auto plan = subject.plan(str("rope:base=", known.base), request_of(known.dim));
    const auto& bands = plan.layers[0].inv_freq[0];
    const auto length = static_cast<double>(known.length);
    const auto never = never_completed(bands, length);
    for (size_t m = 0; m < bands.size(); ++m) {
      const double expected =
          length / (2.0 * std::numbers::pi) *
          std::pow(known.base, -2.0 * static_cast<double>(m) / static_cast<double>(known.dim));
      tally.at_most(std::abs(turns(bands[m], length) / expected - 1.0), 1e-14, "turns of pair ", m,
                    " at ", known.length);
      const bool listed = std::find(never.begin(), never.end(), m) != never.end();
      tally.require(listed == (static_cast<int64_t>(m) >= known.first), "base ", known.base,
                    ", length ", known.length, ": pair ", m);
      if (known.dim == 64) {
        curve.x.push_back(static_cast<double>(m));
        curve.y.push_back(turns(bands[m], length));
      }
    }
    // The subject's own table: share of 360 one-degree sectors that the first and last bands visit.
    const TableRows table = table_rows(subject, plan, count_from(0, known.length));
    for (const size_t m : {size_t{0}, bands.size() - 1}) {
      std::vector<bool> visited(360, false);
      for (size_t t = 0; t < table.cos.size(); ++t) {
        const double degrees =
            std::atan2(table.sin[t][m], table.cos[t][m]) * 180.0 / std::numbers::pi;
        visited[static_cast<size_t>(degrees < 0 ? degrees + 360.0 : degrees) % 360] = true;
      }
      const auto share =
          static_cast<double>(std::count(visited.begin(), visited.end(), true)) / 360.0;
      const double whole = std::min(1.0, turns(bands[m], length));
      tally.at_most(std::abs(share - whole), 1.0 / 180.0, "base ", known.base, ", pair ", m,
                    ": share of the circle seen");
    }
    note += str(note.empty() ? "" : "; ", "base ", known.base, " d ", known.dim, " length ",
                known.length, ": ", never.size(), " of ", bands.size(), " never turn");
  }
  return tally.result(note, {curve});
}

}  // namespace

Identity phase_coverage() {
  return {"phase-coverage", "P17, L30", "Turns of each band inside the training length",
          "hand calculation in the file; sectors: two of 360", run};
}

}  // namespace gyre::verify
