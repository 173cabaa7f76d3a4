#include "gyre/study/overhead.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gyre::study {
namespace {

std::vector<TableCell> logs(const std::vector<TableCell>& mib) {
  std::vector<TableCell> out = mib;
  for (TableCell& cell : out) {
    cell.value = std::log(cell.value);
  }
  return out;
}

// Ratios 1.1 and 1.21 by hand: mean logarithm 1.5 ln 1.1, standard error ln 1.1 / 2, one degree of
// freedom, t = 12.706204736174694.
TEST(MemoryRatio, IsTheGeometricMeanWithATIntervalOfTheLogarithm) {
  const MemoryRatio found =
      memory_ratio(logs({{0, 1, 100}, {0, 2, 100}, {1, 1, 110}, {1, 2, 121}}), 0, 1);
  const double ln = std::log(1.1);
  EXPECT_NEAR(found.ratio, std::exp(1.5 * ln), 1e-12);
  EXPECT_NEAR(found.ci95.lo, std::exp(1.5 * ln - 12.706204736174694 * ln / 2.0), 1e-9);
  EXPECT_NEAR(found.ci95.hi, std::exp(1.5 * ln + 12.706204736174694 * ln / 2.0), 1e-9);
  EXPECT_EQ(found.n_seeds, 2);
}

TEST(MemoryRatio, PairsBySeedAndLeavesOutSeedsThatOneArmLacks) {
  const MemoryRatio found =
      memory_ratio(logs({{0, 1, 100}, {0, 2, 300}, {1, 2, 330}, {1, 3, 999}}), 0, 1);
  EXPECT_NEAR(found.ratio, 1.1, 1e-12);
  EXPECT_EQ(found.n_seeds, 1);
  EXPECT_FALSE(found.ci95.known());
}

TEST(MemoryRatio, OfFewSeedsUsesTheSpreadOfAllArms) {
  const std::vector<TableCell> alone = {{0, 1, 100}, {0, 2, 100}, {1, 1, 101}, {1, 2, 103}};
  std::vector<TableCell> with_others = alone;
  for (const TableCell& cell :
       {TableCell{2, 1, 100}, TableCell{2, 2, 101}, TableCell{3, 1, 102}, TableCell{3, 2, 102}}) {
    with_others.push_back(cell);
  }
  const MemoryRatio own = memory_ratio(logs(alone), 0, 1);
  const MemoryRatio pooled = memory_ratio(logs(with_others), 0, 1);
  EXPECT_DOUBLE_EQ(own.ratio, pooled.ratio);
  EXPECT_LT(pooled.ci95.hi - pooled.ci95.lo, own.ci95.hi - own.ci95.lo);
}

}  // namespace
}  // namespace gyre::study
