// Seed streams: fixed numbers on every machine, no shared draws, no bias.
#include "gyre/base/rng.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>

namespace gyre {
namespace {

// Expected values: the same formulas in Python's whole numbers (SplitMix64, Steele et al. 2014).
TEST(Rng, NumbersAreTheSameOnEveryMachine) {
  EXPECT_EQ(derive_seed(5, "data", 7), 0xcf8b49f5504da6c9ULL);
  Rng rng(5, "data", 7);
  EXPECT_EQ(rng.next(), 0x3a378f020a1f7a76ULL);
  EXPECT_EQ(rng.next(), 0x86ff2865b61cc656ULL);
  EXPECT_EQ(rng.next(), 0xa5c66eb6cd316cb9ULL);
}

TEST(Rng, EveryPartOfTheNameCounts) {
  std::set<uint64_t> seeds;
  size_t n = 0;
  for (uint64_t seed = 0; seed < 10; ++seed) {
    for (const std::string stream : {"data", "weights", "needle", "ab", "ba"}) {
      for (uint64_t index = 0; index < 10; ++index) {
        seeds.insert(derive_seed(seed, stream, index));
        ++n;
      }
    }
  }
  EXPECT_EQ(seeds.size(), n);
}

TEST(Rng, BelowStaysInRangeAndHitsEachValueAlike) {
  Rng rng(1, "test");
  std::array<int, 7> counts{};
  for (int i = 0; i < 70'000; ++i) {
    ++counts.at(rng.below(7));  // at() throws on 7 and above
  }
  for (const int count : counts) {
    EXPECT_NEAR(count, 10'000, 400);  // binomial sd 93: more than four of them
  }
  EXPECT_EQ(rng.below(1), 0U);
}

// n just above 2^63 rejects almost half of the draws; a plain modulo would make small values twice
// as likely: a quarter of all draws below 2^62 becomes one half.
TEST(Rng, BelowHasNoModuloBias) {
  Rng rng(2, "test");
  const uint64_t n = (1ULL << 63U) + 1;
  int small = 0;
  for (int i = 0; i < 10'000; ++i) {
    small += rng.below(n) < (1ULL << 62U) ? 1 : 0;
  }
  EXPECT_NEAR(small, 5'000, 250);  // half of [0, 2^63]; sd 50
}

TEST(Rng, UniformIsInTheHalfOpenUnitInterval) {
  Rng rng(3, "test");
  double sum = 0;
  for (int i = 0; i < 100'000; ++i) {
    const double value = rng.uniform();
    ASSERT_GE(value, 0.0);
    ASSERT_LT(value, 1.0);
    sum += value;
  }
  EXPECT_NEAR(sum / 100'000, 0.5, 0.005);  // sd of the mean 0.0009
}

}  // namespace
}  // namespace gyre
