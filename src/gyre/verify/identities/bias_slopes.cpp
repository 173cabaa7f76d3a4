// Slopes for any number of heads, in both published conventions.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

// 2^(-8 h / n), h = 1 .. n: the paper's text.
std::vector<double> geometric_slopes(int64_t n) {
  std::vector<double> out;
  for (int64_t h = 1; h <= n; ++h) {
    out.push_back(std::exp2(-8.0 * static_cast<double>(h) / static_cast<double>(n)));
  }
  return out;
}

// The released code: those of the power of two below, then every other one of the doubled count.
std::vector<double> released_slopes(int64_t n) {
  int64_t power = 1;
  while (power * 2 <= n) {
    power *= 2;
  }
  std::vector<double> out = geometric_slopes(power);
  const std::vector<double> doubled = geometric_slopes(2 * power);
  for (size_t i = 0; static_cast<int64_t>(out.size()) < n; i += 2) {
    out.push_back(doubled[i]);
  }
  return out;
}

CheckResult run(const Subject& subject) {
  Tally tally;
  for (int64_t n = 1; n <= 64; ++n) {
    for (const bool released : {true, false}) {
      const char* spec = released ? "alibi:slopes=released" : "alibi:slopes=geometric";
      const auto slopes = subject.plan(spec, request_of(8, n)).layers[0].slopes;
      const auto expected = released ? released_slopes(n) : geometric_slopes(n);
      tally.require(slopes.size() == expected.size(), spec, ", ", n, " heads: ", slopes.size(),
                    " slopes");
      for (size_t h = 0; h < std::min(slopes.size(), expected.size()); ++h) {
        tally.at_most(std::abs(slopes[h] / expected[h] - 1.0), 1e-15, spec, ", ", n,
                      " heads, head ", h);
      }
    }
  }
  const auto eight = subject.plan("alibi", request_of(8, 8)).layers[0].slopes;
  tally.at_most(std::abs(eight.front() - 0.5), 0.0, "case 33: first of 8 slopes");
  tally.at_most(std::abs(eight.back() - 0.00390625), 0.0, "case 33: last of 8 slopes");
  return tally.result("1 to 64 heads; 8 heads: 0.5 ... 0.00390625");
}

}  // namespace

Identity bias_slopes() {
  return {"bias-slopes", "P20, case 33", "Slopes for 1 to 64 heads, both conventions",
          "Press et al. 2022, sec. 3 and released code; aprender#2143; 1e-15: rounding of exp2",
          run};
}

}  // namespace gyre::verify
