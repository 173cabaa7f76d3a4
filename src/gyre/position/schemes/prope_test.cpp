// Tests of schemes/prope.cpp: tables, options, messages.
#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(PRope, KeepsExactlyIntPTimesHalfTheHead) {
  // R12: int(p * d // 2) evaluated in Python for each pair; the ends are 0 and all.
  const struct {
    double p;
    int64_t head_dim, kept;
  } rows[] = {{0.75, 64, 24}, {0.75, 256, 96},  {0.25, 128, 16}, {0.3, 64, 9}, {0.99, 64, 31},
              {0.7, 20, 7},   {0.1, 32, 1},     {0.01, 64, 0},   {0.5, 32, 8}, {1.0, 128, 64},
              {0.0, 64, 0},   {0.333, 256, 42}, {0.6, 128, 38},  {0.9, 32, 14}};
  for (const auto& row : rows) {
    const auto rope = bands_of("rope", row.head_dim);
    const auto low = bands_of(str("prope:p=", row.p), row.head_dim);
    const auto high = bands_of(str("prope:cut=high,p=", row.p), row.head_dim);
    ASSERT_EQ(low.size(), rope.size());
    for (int64_t m = 0; m < row.head_dim / 2; ++m) {
      const auto i = static_cast<size_t>(m);
      EXPECT_EQ(low[i], m < row.kept ? rope[i] : 0.0) << row.p << " " << row.head_dim << " " << m;
      const bool slow = m >= row.head_dim / 2 - row.kept;
      EXPECT_EQ(high[i], slow ? rope[i] : 0.0) << row.p << " " << row.head_dim << " " << m;
    }
  }
}

TEST(PRope, ReversedDropsTheFastestQuarter) {
  // R26: with p = 0.75 and D = 64 the 8 fastest of 32 pairs do not rotate.
  const auto bands = bands_of("prope:p=0.75,cut=high", 64);
  EXPECT_EQ(std::count(bands.begin(), bands.begin() + 8, 0.0), 8);
  EXPECT_EQ(std::count(bands.begin() + 8, bands.end(), 0.0), 0);
}

TEST(PRope, IsRopeAtOne) {
  // R13, X01; whole plans, so that nothing else differs either.
  const PlanRequest request{.n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .head_dim = 64};
  EXPECT_EQ(make_plan("prope:p=1", "full", request), make_plan("rope", "full", request));
  EXPECT_EQ(make_plan("prope:p=1,cut=high", "full", request), make_plan("rope", "full", request));
}

TEST(PRope, RefusesFractionsOutsideZeroToOne) {
  expect_usage_error("prope:p=1.5", {.head_dim = 8}, "prope: 'p' must be in [0, 1], got 1.5");
  expect_usage_error("prope:p=-0.1", {.head_dim = 8}, "prope: 'p' must be in [0, 1], got -0.1");
  expect_usage_error("prope:base=0", {.head_dim = 8},
                     "prope: 'base' must be a number above 1, got 0");
}

}  // namespace
}  // namespace gyre::position
