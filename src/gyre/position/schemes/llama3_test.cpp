// Tests of schemes/llama3.cpp: formula, options, messages.
#include <numbers>

#include "gyre/base/error.h"
#include "gyre/position/extension.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Llama3, KeepsBlendsAndDivides) {
  // meta-llama/llama3#299: 29 kept, 6 blended, 29 divided; f63 = 3.06892599e-07.
  const std::string options = "factor=8,low=1,high=4,original=8192";
  const auto rope = bands_of("rope:base=500000", 128);
  const auto bands = bands_of("llama3:base=500000," + options, 128);
  int kept = 0, divided = 0;
  for (size_t m = 0; m < 64; ++m) {
    kept += bands[m] == rope[m];
    divided += bands[m] == rope[m] / 8.0;
  }
  EXPECT_EQ(kept, 29);
  EXPECT_EQ(divided, 29);
  EXPECT_NEAR(bands[63], 3.06892599e-07, 5e-16);
}

TEST(Llama3, UsesTheLearnedWavelength) {
  // original 8192, wavelengths 2048 - 1e-6, 4096, 8192.1 and none: kept; t = (2-1)/(4-1) = 1/3;
  // divided; not rotated.
  const double tau = 2.0 * std::numbers::pi;
  const double learned[] = {tau / 2047.999999, tau / 4096, tau / 8192.1};
  const TemporaryRun run(str("[[[", detail::format(learned[0]), ",", detail::format(learned[1]),
                             ",", detail::format(learned[2]), ",0.0]]]"));
  expect_close(bands_of("llama3:factor=8,original=8192,from=" + run.path(), 8),
               {learned[0], learned[1] * (2.0 / 3.0 / 8.0 + 1.0 / 3.0), learned[2] / 8.0, 0.0});
}

// Llama 4 Scout has both bounds at one turn: pairs of more than one are kept, the rest divided.
TEST(Llama3, EqualBoundsAreAStep) {
  const double tau = 2.0 * std::numbers::pi;
  const TemporaryRun run(str("[[[", detail::format(tau / 63.9), ",", detail::format(tau / 64.1),
                             ",", detail::format(tau / 640.0), ",0.0]]]"));
  expect_close(bands_of("llama3:factor=16,low=1,high=1,original=64,from=" + run.path(), 8),
               {tau / 63.9, tau / 64.1 / 16.0, tau / 640.0 / 16.0, 0.0});
  const Bands exact = llama3_bands({tau / 64.0}, {16.0, 1.0, 1.0, 64.0}).bands;
  EXPECT_DOUBLE_EQ(exact.at(0), tau / 64.0 / 16.0);  // on the bound itself, not NaN
}

TEST(Llama3, RefusesBadOptions) {
  expect_usage_error("llama3:low=4,high=1,original=64", {.head_dim = 8},
                     "llama3: 'high' must not be below 'low', got low 4 and high 1");
  expect_usage_error("llama3:factor=0.25,original=64", {.head_dim = 8},
                     "llama3: 'factor' must be 1 or more, got 0.25");
}

}  // namespace
}  // namespace gyre::position
