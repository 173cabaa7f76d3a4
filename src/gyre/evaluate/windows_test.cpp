#include "gyre/evaluate/windows.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>

#include "gyre/evaluate/fixtures.h"

namespace gyre::evaluate {
namespace {

using testing::TempFolder;

TEST(Windows, DisjointTileTheRegionAndCutTheLast) {
  const std::vector<Window> expected = {{5, 4, 0}, {9, 4, 0}, {13, 2, 0}};
  EXPECT_EQ(disjoint_windows(5, 10, 4), expected);
}

TEST(Windows, SlidingWindowsAdvanceByHalf) {
  // region [4, 10) with length 4: windows end at 6, 8, 10 and score two predictions each
  const std::vector<Window> expected = {{2, 4, 2}, {4, 4, 2}, {6, 4, 2}};
  EXPECT_EQ(sliding_windows(4, 6, 4), expected);
}

TEST(Windows, SlidingScoresEachPredictionOnceWithLongContext) {
  for (const int64_t length : {1, 2, 3, 4, 7, 8, 16, 33}) {
    for (const int64_t n : {length, length + 1, 2 * length + 3, 5 * length}) {
      const int64_t begin = (length + 1) / 2;
      std::map<int64_t, int> seen;
      for (const Window& window : sliding_windows(begin, n, length)) {
        EXPECT_EQ(window.length, length);
        EXPECT_GE(window.begin, 0);
        EXPECT_GE(window.skip, length - std::max<int64_t>(1, length / 2));
        for (int64_t i = window.skip; i < length; ++i) {
          ++seen[window.begin + i];
        }
      }
      EXPECT_EQ(static_cast<int64_t>(seen.size()), n) << length;
      EXPECT_EQ(seen.begin()->first, begin);
      EXPECT_EQ(seen.rbegin()->first, begin + n - 1);
      for (const auto& [prediction, times] : seen) {
        EXPECT_EQ(times, 1) << "length " << length << " prediction " << prediction;
      }
    }
  }
}

TEST(Windows, ScoreKeepsStreamOrderAndPositions) {
  const TempFolder folder("windows-score");
  const auto stream = testing::make_stream(folder.path / "val.bin", testing::counting_tokens(40));
  // Loss of a token = its id = its place in the stream; inputs must be one before the targets.
  const NllFn nll = [](const at::Tensor& tokens, const at::Tensor& targets) {
    EXPECT_TRUE((targets - tokens).eq(1).all().item<bool>());
    return targets.to(at::kFloat);
  };
  const Scored scored = score(*stream, sliding_windows(4, 12, 8), nll);
  ASSERT_EQ(scored.loss.size(), 12U);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(scored.loss[i], static_cast<float>(4 + i + 1));
    EXPECT_EQ(scored.position[i], static_cast<int64_t>(4 + i % 4));
  }
  EXPECT_DOUBLE_EQ(mean_loss(scored), 10.5);  // mean of 5 .. 16
}

TEST(Windows, BucketsSplitByPosition) {
  EXPECT_EQ(dyadic_edges(8), (std::vector<int64_t>{0, 1, 2, 4, 8}));
  EXPECT_EQ(dyadic_edges(6), (std::vector<int64_t>{0, 1, 2, 4, 6}));
  EXPECT_EQ(dyadic_edges(1), (std::vector<int64_t>{0, 1}));
  const Scored scored{{9, 5, 3, 1, 7, 3}, {0, 1, 2, 3, 0, 3}};
  const std::vector<Bucket> buckets = bucket_losses(scored, dyadic_edges(8));
  ASSERT_EQ(buckets.size(), 3U);  // 4-8 holds nothing
  EXPECT_EQ(buckets[0].n, 2);
  EXPECT_DOUBLE_EQ(buckets[0].loss, 8.0);
  EXPECT_DOUBLE_EQ(buckets[1].loss, 5.0);
  EXPECT_EQ(buckets[2].begin, 2);
  EXPECT_EQ(buckets[2].end, 4);
  EXPECT_EQ(buckets[2].n, 3);
  EXPECT_DOUBLE_EQ(buckets[2].loss, 7.0 / 3.0);
}

TEST(Windows, NotFiniteLossesAreCountedNotDropped) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Scored scored{{1, nan, 2, INFINITY}, {0, 1, 2, 3}};
  EXPECT_EQ(count_not_finite(scored), 2);
  EXPECT_FALSE(std::isfinite(mean_loss(scored)));
  EXPECT_TRUE(std::isnan(mean_loss({})));
}

}  // namespace
}  // namespace gyre::evaluate
