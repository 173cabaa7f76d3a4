// Different offsets need not be told apart by their phases: near-equal phase vectors are searched,
// and more bands push them further apart. Near phases are no proof that a model confuses them.
#include "gyre/verify/phase.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

// Distance of two rows of the subject's table: root mean square over bands of |e^{ia} - e^{ib}|.
double row_distance(const TableRows& table, size_t a, size_t b) {
  double sum = 0.0;
  for (size_t m = 0; m < table.cos[a].size(); ++m) {
    sum += std::pow(table.cos[a][m] - table.cos[b][m], 2) +
           std::pow(table.sin[a][m] - table.sin[b][m], 2);
  }
  return std::sqrt(sum / static_cast<double>(table.cos[a].size()));
}

CheckResult run(const Subject& subject) {
  Tally tally;
  // 710 rad = 113 turns + 6.03e-5: with one band of 1 rad, offsets 710 apart look alike.
  const Collision one = collisions({1.0}, 1000, 1).front();
  tally.require(one.difference == 710, "1 rad alone: closest offsets are ", one.difference,
                " apart");
  tally.at_most(std::abs(one.distance - 6.0288e-5), 1e-8, "1 rad alone: distance");
  Curve curve{
      "closest offsets", "number of bands", "smallest phase distance, offsets to 4096", {}, {}};
  const auto bands = geometric(10000.0, 32, 64);
  std::string note = "1 rad alone: offsets 710 apart differ by 6.0e-5";
  for (const int64_t n : {1, 2, 4, 8, 16, 32}) {
    // The n fastest bands alone.
    const std::vector<double> some(bands.begin(), bands.begin() + n);
    const auto found = collisions(some, 4096, 3);
    const TableRows table = table_rows(subject, plan_of(some, 2 * n), count_from(0, 4200));
    for (const Collision& collision : found) {
      for (const size_t start : {size_t{0}, size_t{57}, size_t{100}}) {
        const auto end = start + static_cast<size_t>(collision.difference);
        tally.at_most(std::abs(row_distance(table, start, end) - collision.distance), 1e-12, n,
                      " bands: offsets ", start, " and ", end);
      }
    }
    curve.x.push_back(static_cast<double>(n));
    curve.y.push_back(found.front().distance);
    note += n == 8 || n == 32 ? str("; ", n, " bands: ", found.front().difference, " apart, ",
                                    found.front().distance)
                              : "";
  }
  for (size_t i = 1; i < curve.y.size(); ++i) {
    tally.require(curve.y[i] > curve.y[i - 1] || i > 3,
                  "more fast bands tell offsets better apart, ", curve.x[i], " bands");
  }
  return tally.result(note, {curve});
}

}  // namespace

Identity collisions_of_offsets() {
  return {"collisions", "P11, P19", "Offsets with near-equal phases",
          "355/113 approximates pi: 2 |sin 355| = 6.03e-5; 1e-12: rounding of the table", run};
}

}  // namespace gyre::verify
