// Tests of schemes/clipped.cpp: formula, options, messages.
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Clipped, FadesTheSlowestBands) {
  // t = 0, pi/2, pi over the last three of 16 channels' eight bands.
  const auto rope = bands_of("rope", 16), soft = bands_of("clipped:bands=3", 16);
  for (size_t m = 0; m <= 5; ++m) {
    EXPECT_EQ(soft[m], rope[m]) << m;
  }
  EXPECT_NEAR(soft[6], rope[6] / 2.0, 1e-18);
  EXPECT_EQ(soft[7], 0.0);
}

TEST(Clipped, DefaultsTo20Of64) {
  const auto rope = bands_of("rope", 128), soft = bands_of("clipped", 128);
  EXPECT_EQ(soft[44], rope[44]);  // the first of the 20 has factor 1
  EXPECT_LT(soft[45], rope[45]);
  EXPECT_EQ(soft[63], 0.0);
}

TEST(Clipped, HardCutIsPRope) {
  EXPECT_EQ(bands_of("clipped:cut=hard", 128), bands_of("prope:p=0.6875", 128));
}

TEST(Clipped, ClipsTheSlowestLearnedBandsWhereverTheyStand) {
  const TemporaryRun run("[[[0.001,0.5,0.002,0.25]]]");
  expect_close(bands_of("clipped:bands=2,from=" + run.path(), 8), {0.0, 0.5, 0.002, 0.25});
  expect_close(bands_of("clipped:bands=2,cut=hard,from=" + run.path(), 8), {0.0, 0.5, 0.0, 0.25});
}

TEST(Clipped, RefusesMoreBandsThanThereAre) {
  expect_usage_error("clipped:bands=5", {.head_dim = 8}, "clipped: 'bands' must be 0 to 4, got 5");
  expect_usage_error("clipped:bands=-1", {.head_dim = 8},
                     "clipped: 'bands' must be 0 to 4, got -1");
}

}  // namespace
}  // namespace gyre::position
