// Tests of schemes/dynamic.cpp: formula, options, messages.
#include <cmath>

#include "gyre/position/extension.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

Bands at(int64_t length) {
  return bands_of("dynamic:factor=2,original=4096", {.head_dim = 128, .length = length});
}

// From the second band: theta_1 = base^(-2/128).
double base_of(const Bands& bands) {
  return std::pow(bands[1], -64.0);
}

TEST(Dynamic, GrowsTheBaseWithTheLength) {
  // huggingface/transformers#25104: bases at 4097, 6144 and 8192 tokens, in float64.
  EXPECT_NEAR(base_of(at(4097)), 10004.960, 5e-4);
  EXPECT_NEAR(base_of(at(6144)), 20221.262, 5e-4);
  EXPECT_NEAR(base_of(at(8192)), 30527.737, 5e-4);
  for (const int64_t length : {1, 2048, 4096}) {
    EXPECT_EQ(at(length), bands_of("rope", 128)) << length;
  }
}

TEST(Dynamic, OneBaseForAllKeysIsNotTheMixOfTwo) {
  // Same thread: key at 4000, query at 8191, pair 63. One base: 0.161323 rad; the key as it was
  // cached at length 4096: -0.146619 rad.
  const double grown = at(8192)[63], plain = at(4096)[63];
  EXPECT_NEAR(8191 * grown - 4000 * grown, 0.161323, 5e-7);
  EXPECT_NEAR(8191 * grown - 4000 * plain, -0.146619, 5e-7);
}

TEST(Dynamic, StatesItsRule) {
  const auto plan = make_plan("dynamic:factor=2,original=4096", "full", {.head_dim = 8});
  EXPECT_EQ(plan.length_rule,
            "a sequence of L > 4096 tokens: every query and key is rotated with the base grown by "
            "(2 L/4096 - 1)^(R/(R-2)); shorter ones: the base as it is");
}

TEST(Dynamic, TakesLengthAndOriginalFromTheRequest) {
  const PlanRequest training{.head_dim = 8, .train_length = 64};
  EXPECT_EQ(bands_of("dynamic", training), bands_of("rope", 8));
  const PlanRequest longer{.head_dim = 8, .train_length = 64, .length = 128};
  EXPECT_EQ(bands_of("dynamic", longer),
            bands_of("dynamic:original=64", {.head_dim = 8, .length = 128}));
  EXPECT_LT(bands_of("dynamic", longer)[3], bands_of("rope", 8)[3]);
}

TEST(Dynamic, ExtendsLearnedFrequencies) {
  // Index 1.5 of base 10000 over 8 channels; a = 3 at twice the original length.
  const TemporaryRun run("[[[0.03162277660168379,0.001]]]");
  const auto plan = make_plan("dynamic:factor=2,original=64,from=" + run.path(), "full",
                              {.head_dim = 8, .length = 128});
  // The run has 2 pairs, so R = 4: 0.0316 is index 0.75 of its table, 0.001 index 1.5.
  expect_close(plan.layers[0].inv_freq[0],
               {0.03162277660168379 * std::pow(3.0, -0.75), 0.001 * std::pow(3.0, -1.5)});
}

TEST(Dynamic, RefusesBadOptions) {
  expect_usage_error("dynamic", {.head_dim = 8},
                     "dynamic: 'original' must be the training length in tokens, got 0 and the "
                     "model's own is not known");
  expect_usage_error("dynamic:original=-4", {.head_dim = 8},
                     "dynamic: 'original' must be the training length in tokens, got -4");
  expect_usage_error("dynamic:factor=0.5,original=64", {.head_dim = 8},
                     "dynamic: 'factor' must be 1 or more, got 0.5");
  expect_usage_error("dynamic:original=64", {.head_dim = 2},
                     "dynamic: needs at least two pairs, got 2 channels");
}

}  // namespace
}  // namespace gyre::position
