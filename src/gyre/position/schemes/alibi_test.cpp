// Tests of schemes/alibi.cpp: tables, options, messages.
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

std::vector<double> slopes(const std::string& convention, int64_t n_heads) {
  return make_plan("alibi:slopes=" + convention, "full", {.n_heads = n_heads}).layers[0].slopes;
}

// get_slopes() of the released code, transcribed: start = 2^(-2^-(log2 n - 3)), ratio = start.
std::vector<double> transcribed(int64_t n) {
  const double log = std::log2(static_cast<double>(n));
  if (std::floor(log) == log) {
    const double start = std::pow(2.0, -std::pow(2.0, -(log - 3.0)));
    std::vector<double> out;
    for (int64_t i = 0; i < n; ++i) {
      out.push_back(start * std::pow(start, static_cast<double>(i)));
    }
    return out;
  }
  const auto lower = static_cast<int64_t>(std::pow(2.0, std::floor(log)));
  std::vector<double> out = transcribed(lower), finer = transcribed(2 * lower);
  for (size_t i = 0; out.size() < static_cast<size_t>(n); i += 2) {
    out.push_back(finer[i]);
  }
  return out;
}

TEST(Alibi, ReleasedSlopesEqualTheReleasedCodeForEveryHeadCount) {
  // P20: 1 to 64 heads.
  for (int64_t n = 1; n <= 64; ++n) {
    const auto expected = transcribed(n), actual = slopes("released", n);
    ASSERT_EQ(actual.size(), expected.size()) << n;
    for (size_t h = 0; h < actual.size(); ++h) {
      EXPECT_NEAR(actual[h], expected[h], 1e-14) << n << " heads, head " << h;
    }
  }
}

TEST(Alibi, GeometricSlopesAreThePapersForEveryHeadCount) {
  // "start at 2^(-8/n) and use that same value as ratio": sec. 3, arXiv:2108.12409.
  for (int64_t n = 1; n <= 64; ++n) {
    const auto actual = slopes("geometric", n);
    ASSERT_EQ(std::ssize(actual), n);
    EXPECT_NEAR(actual.back(), std::exp2(-8.0), 1e-17) << n;
    for (size_t h = 1; h < actual.size(); ++h) {
      EXPECT_NEAR(actual[h] / actual[h - 1], std::exp2(-8.0 / static_cast<double>(n)), 1e-14) << n;
    }
  }
}

TEST(Alibi, ConventionsAgreeAtPowersOfTwoOnly) {
  EXPECT_EQ(slopes("released", 8), slopes("geometric", 8));
  EXPECT_NE(slopes("released", 6), slopes("geometric", 6));
  // Paper, 8 heads: 1/2, 1/4, ..., 1/256.
  EXPECT_EQ(slopes("geometric", 8)[0], 0.5);
  EXPECT_EQ(slopes("geometric", 8)[7], 1.0 / 256.0);
}

TEST(Alibi, StoresItsConvention) {
  // P04: slopes and convention survive a round trip through the plan's text.
  for (const char* convention : {"released", "geometric"}) {
    const auto plan =
        make_plan(str("alibi:slopes=", convention), "full", {.n_layers = 2, .n_heads = 6});
    EXPECT_EQ(plan.slope_convention, convention);
    EXPECT_EQ(plan_from_json(plan_to_json(plan), "test"), plan);
    EXPECT_EQ(plan.rotary_dim, 0);
    EXPECT_TRUE(plan.layers[1].inv_freq.empty());
  }
}

TEST(Alibi, RefusesAnUnknownConvention) {
  expect_usage_error("alibi:slopes=paper", {},
                     "alibi: 'slopes' must be one of released, geometric; got 'paper'");
}

}  // namespace
}  // namespace gyre::position
