// Phase arithmetic against hand calculation.
#include "gyre/verify/phase.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gyre::verify {
namespace {

TEST(PhaseCurve, WorkedExample) {  // P45
  EXPECT_NEAR(phase_curve(1.0, 32)[32], 0.834, 5e-4);
  EXPECT_NEAR(phase_curve(0.1, 32)[32], -0.998, 5e-4);
  EXPECT_NEAR(phase_curve(0.01, 32)[32], 0.949, 5e-4);
  EXPECT_EQ(phase_curve(1.0, 32).size(), 33U);
}

TEST(FirstRecurrence, ByHand) {
  EXPECT_EQ(first_recurrence(1.0, 0.999, 1000), 44);    // 7 turns + 0.018
  EXPECT_EQ(first_recurrence(0.01, 0.999, 1000), 624);  // 1 turn - 0.043
  EXPECT_EQ(first_recurrence(0.01, 0.999, 100), 0);
  EXPECT_EQ(first_recurrence(0.0, 0.999, 100), 0);  // never leaves
}

TEST(Turns, SlowestBandAt128k) {  // R32
  EXPECT_NEAR(turns(1e-4, 128000), 2.04, 0.005);
  EXPECT_EQ(never_completed({1.0, 1e-4, 0.0}, 2048), (std::vector<int64_t>{1, 2}));
}

TEST(Collisions, OneRadian) {
  const auto found = collisions({1.0}, 1000, 2);
  EXPECT_EQ(found[0].difference, 710);  // 113 turns
  EXPECT_NEAR(found[0].distance, 6.03e-5, 1e-7);
}

TEST(LayersToReach, WindowFormula) {  // P48: a window of w keys reaches w - 1 back per layer
  const auto layers = layers_to_reach({{.window = 4}}, 10, 8);
  const std::vector<int64_t> expected{4, 3, 3, 3, 2, 2, 2, 1, 1, 1, 0};
  EXPECT_EQ(layers, expected);
}

TEST(LayersToReach, GlobalTokenShortensThePath) {
  const auto layers = layers_to_reach({{.window = 2, .n_global = 1}}, 6, 9);
  EXPECT_EQ(layers.front(), 1);  // token 0 is global
  EXPECT_EQ(layers[3], 3);       // later tokens still go step by step: none passes through token 0
}

TEST(LayersToReach, NeverWithinTheLimit) {
  EXPECT_EQ(layers_to_reach({{.window = 2}}, 9, 3).front(), -1);
}

}  // namespace
}  // namespace gyre::verify
