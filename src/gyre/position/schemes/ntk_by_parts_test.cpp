// Tests of schemes/ntk_by_parts.cpp: formula, options, messages.
#include <cmath>
#include <numbers>

#include "gyre/base/error.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

constexpr double kTau = 2.0 * std::numbers::pi;

// The frequency of a wavelength, exact.
std::string text(double wavelength) {
  return detail::format(kTau / wavelength);
}

TEST(NtkByParts, KeepsFastDividesSlowBlendsBetween) {
  // L = 1024, wavelengths 16, 64, 512, 2048: r = 64, 16, 2, 0.5 turns.
  const TemporaryRun run(
      str("[[[", text(16), ",", text(64), ",", text(512), ",", text(2048), "]]]"));
  const auto before = bands_of("frozen:from=" + run.path(), 8);
  const auto after = bands_of("ntk_by_parts:factor=4,original=1024,from=" + run.path(), 8);
  const double share[] = {1.0, 15.0 / 31.0, 1.0 / 31.0, 0.0};  // (r - 1) / (32 - 1)
  for (size_t m = 0; m < 4; ++m) {
    const double expected = before[m] * (share[m] + (1.0 - share[m]) / 4.0);
    EXPECT_NEAR(after[m], expected, 1e-12 * expected) << m;
  }
}

TEST(NtkByParts, StretchesADominantLearnedBandToTheNewWindow) {
  // lambda = 2.2 L is less than one turn, so it is divided: 2.2 L' at the new length.
  const TemporaryRun run(str("[[[", text(2.2 * 2048), "]]]"));
  const auto after = bands_of("ntk_by_parts:factor=8,original=2048,from=" + run.path(), 2);
  EXPECT_NEAR(wavelength_tokens(after[0]), 2.2 * 2048 * 8, 1e-3);
}

TEST(NtkByParts, ConventionsDiffer) {
  const std::string spec = "ntk_by_parts:factor=4,original=2048,convention=";
  const auto paper = bands_of(spec + "paper", 128), released = bands_of(spec + "released", 128);
  EXPECT_EQ(paper[0], released[0]);
  EXPECT_NEAR(paper[63], released[63], 1e-18);
  EXPECT_GT(std::abs(paper[30] / released[30] - 1.0), 0.05);
}

TEST(NtkByParts, RefusesBadOptions) {
  expect_usage_error("ntk_by_parts:alpha=2,beta=2,original=64", {.head_dim = 8},
                     "ntk_by_parts: 'beta' must be above 'alpha', got alpha 2 and beta 2");
  expect_usage_error("ntk_by_parts:factor=0.5,original=64", {.head_dim = 8},
                     "ntk_by_parts: 'factor' must be 1 or more, got 0.5");
  expect_usage_error("ntk_by_parts:convention=released,original=64", {.head_dim = 2},
                     "ntk_by_parts: needs at least two pairs, got 2 channels");
  expect_usage_error("ntk_by_parts:convention=yarn", {.head_dim = 8},
                     "ntk_by_parts: 'convention' must be one of paper, released; got 'yarn'");
}

}  // namespace
}  // namespace gyre::position
