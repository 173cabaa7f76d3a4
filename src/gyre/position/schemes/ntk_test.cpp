// Tests of schemes/ntk.cpp: formula, options, messages.
#include <cmath>

#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Ntk, KeepsTheFastestAndDividesTheSlowest) {
  const auto rope = bands_of("rope", 64), ntk = bands_of("ntk:factor=8", 64);
  EXPECT_EQ(ntk[0], 1.0);
  EXPECT_NEAR(ntk[31], rope[31] / 8.0, 1e-15 * rope[31]);
  // The definition: a table of base 10000 * 8^(64/62).
  const double base = 10000.0 * std::pow(8.0, 64.0 / 62.0);
  for (size_t m = 0; m < 32; ++m) {
    const double expected = std::pow(base, -2.0 * static_cast<double>(m) / 64.0);
    EXPECT_NEAR(ntk[m], expected, 1e-14 * expected) << m;
  }
}

TEST(Ntk, PlacesLearnedFrequenciesByTheirWavelength) {
  // D = 8, base 10000: the table is 1, 0.1, 0.01, 0.001. A band learned at 0.0316 = 10^-1.5 lies at
  // index 1.5 wherever it stands, and is divided by 8^(2 * 1.5 / 6) = 8^0.5.
  const TemporaryRun run("[[[1.0,0.01,0.03162277660168379,0.0]]]");
  expect_close(bands_of("ntk:factor=8,from=" + run.path(), 8),
               {1.0, 0.01 / 4.0, 0.03162277660168379 / std::sqrt(8.0), 0.0});
}

TEST(Ntk, RefusesBadOptions) {
  expect_usage_error("ntk:factor=0", {.head_dim = 8}, "ntk: 'factor' must be 1 or more, got 0");
  expect_usage_error("ntk", {.head_dim = 2}, "ntk: needs at least two pairs, got 2 channels");
}

}  // namespace
}  // namespace gyre::position
