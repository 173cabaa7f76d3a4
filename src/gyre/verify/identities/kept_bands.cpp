// Cutting slow bands keeps the original spacing of the rest (p-RoPE); rotating a slice of the head
// spaces them anew (partial). The two are mixed up in the field.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

void cut(const Subject& subject, Tally& tally) {
  for (const int64_t dim : {32, 64, 128, 256}) {
    for (const double share : {0.25, 0.5, 0.75, 1.0}) {
      const auto plan = subject.plan(str("prope:p=", share), request_of(dim));
      const auto kept = static_cast<int64_t>(share * static_cast<double>(dim)) / 2;
      const auto& bands = plan.layers[0].inv_freq[0];
      for (int64_t m = 0; m < static_cast<int64_t>(bands.size()); ++m) {
        const double theta =
            m < kept ? std::pow(1e4, -2.0 * static_cast<double>(m) / static_cast<double>(dim))
                     : 0.0;
        tally.at_most(std::abs(bands[static_cast<size_t>(m)] - theta), 1e-15, "head dim ", dim,
                      ", p ", share, ", pair ", m);
      }
      tally.require(static_cast<int64_t>(bands.size()) == dim / 2, "head dim ", dim, ": all pairs");
    }
  }
}

// pegainfer#820: D 512, base 1e6, 0.25.
void wide_head(const Subject& subject, Tally& tally) {
  const auto plan = subject.plan("prope:p=0.25,base=1000000", request_of(512));
  const auto& bands = plan.layers[0].inv_freq[0];
  tally.at_most(std::abs(bands[1] - 0.947463526), 5e-10, "case 25: pair 1");
  tally.at_most(std::abs(bands[63] - 0.033376247), 5e-10, "case 25: pair 63");
  tally.at_most(std::abs(bands[64]), 0.0, "case 25: pair 64 stands still");
}

// A band that does not turn scores alike at every distance (R14).
void flat_band(const Subject& subject, Tally& tally) {
  const auto plan = subject.plan("prope:p=0.5", request_of(8));
  const Rows unit = repeated({0, 0, 0, 1, 0, 0, 0, 1}, 400);  // pair 3 of 4
  const auto positions = count_from(0, 400);
  const Turned turned = rotated(subject, {unit, unit}, positions, plan);
  const auto scores = dots(turned.q, turned.k);
  for (size_t distance = 0; distance < 400; ++distance) {
    tally.at_most(std::abs(scores[399][399 - distance] - 2.0), 0.0, "cut band at distance ",
                  distance);
  }
}

CheckResult run(const Subject& subject) {
  Tally tally;
  cut(subject, tally);
  wide_head(subject, tally);
  flat_band(subject, tally);
  return tally.result("cut bands: original spacing, exact zeros, one score at every distance");
}

}  // namespace

Identity kept_bands() {
  return {"kept-bands", "R12, R14, case 25", "Cutting slow bands keeps the spacing of the rest",
          "Barbero et al. 2024, arXiv:2410.06205, published algorithm; pegainfer#820; 1e-15: one "
          "rounding of pow",
          run};
}

}  // namespace gyre::verify
