// Batch k is a function of (seed, k, corpus hash). Pinned values come from a Python program that
// follows the comments of batches.cpp, permutation.cpp and rng.h.
#include <ATen/ops/equal.h>

#include <numeric>
#include <set>

#include "gyre/data/dataset.h"
#include "gyre/data/permutation.h"
#include "gyre/data/test_folder.h"
#include "gyre/data/token_file.h"

namespace gyre::data {
namespace {

/// Tokens 0, 1, 2, ...: a token's value is its position.
std::shared_ptr<const TokenStream> counting_stream(const TestFolder& f, int64_t n) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  std::iota(ids.begin(), ids.end(), 0);
  TokenWriter writer(f / "count.bin", n > 65536);
  writer.append(ids);
  writer.finish();
  return std::make_shared<TokenStream>(MappedFile(f / "count.bin"), kHeaderBytes, n);
}

std::vector<int64_t> starts(const Batch& batch) {
  std::vector<int64_t> out;
  for (int64_t b = 0; b < batch.inputs.size(0); ++b) {
    out.push_back(batch.inputs.const_data_ptr<int64_t>()[b * batch.inputs.size(1)]);
  }
  return out;
}

TEST(Batches, GiveThePinnedWindows) {
  const TestFolder f;
  const Batches batches(counting_stream(f, 100), "hash", 5, 3, 8);
  EXPECT_EQ(batches.n_windows(), 11);
  EXPECT_EQ(starts(batches.at(0)), (std::vector<int64_t>{12, 4, 36}));
  EXPECT_EQ(starts(batches.at(4)), (std::vector<int64_t>{61, 85, 37}));
}

TEST(Batches, ShiftTargetsByOne) {
  const TestFolder f;
  const Batch batch = Batches(counting_stream(f, 100), "hash", 5, 3, 8).at(2);
  EXPECT_EQ(batch.inputs.sizes(), (std::vector<int64_t>{3, 8}));
  EXPECT_EQ(batch.inputs.scalar_type(), at::kLong);
  const auto* in = batch.inputs.const_data_ptr<int64_t>();
  const auto* target = batch.targets.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < 24; ++i) {
    EXPECT_EQ(target[i], in[i] + 1);
    EXPECT_EQ(in[i], in[i / 8 * 8] + i % 8);
  }
}

TEST(Batches, DoNotDependOnTheOrderOfCalls) {
  const TestFolder f;
  const auto stream = counting_stream(f, 5000);
  const Batches one(stream, "h", 1, 4, 16);
  const Batches two(stream, "h", 1, 4, 16);
  std::vector<at::Tensor> forwards;
  for (int64_t k = 0; k < 100; ++k) {
    forwards.push_back(one.at(k).inputs);
  }
  for (int64_t k = 99; k >= 0; --k) {
    EXPECT_TRUE(at::equal(two.at(k).inputs, forwards[static_cast<size_t>(k)]));
  }
}

TEST(Batches, OfTwiceTheSizeHoldTwoBatches) {
  const TestFolder f;
  const auto stream = counting_stream(f, 5000);
  const Batches small(stream, "h", 1, 4, 16);
  const Batches large(stream, "h", 1, 8, 16);
  std::vector<int64_t> joined = starts(small.at(6));
  for (const int64_t start : starts(small.at(7))) {
    joined.push_back(start);
  }
  EXPECT_EQ(starts(large.at(3)), joined);
}

TEST(Batches, CoverEveryWindowOnceAnEpoch) {
  const TestFolder f;
  const Batches batches(counting_stream(f, 1000), "h", 9, 1, 10);
  const int64_t n = batches.n_windows();
  EXPECT_EQ(n, 99);
  std::set<int64_t> offsets;
  for (int64_t epoch = 0; epoch < 20; ++epoch) {
    std::set<int64_t> seen;
    for (int64_t i = 0; i < n; ++i) {
      seen.insert(starts(batches.at(epoch * n + i)).front());
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), n);
    EXPECT_EQ(*seen.rbegin() - *seen.begin(), (n - 1) * 10);
    offsets.insert(*seen.begin());
  }
  EXPECT_GT(offsets.size(), 4U);  // 20 draws of 10 values
  EXPECT_LE(*offsets.rbegin(), 9);
}

TEST(Batches, DifferBySeedAndByCorpus) {
  const TestFolder f;
  const auto stream = counting_stream(f, 5000);
  const auto first = starts(Batches(stream, "h", 1, 8, 16).at(0));
  EXPECT_NE(first, starts(Batches(stream, "h", 2, 8, 16).at(0)));
  EXPECT_NE(first, starts(Batches(stream, "other", 1, 8, 16).at(0)));
}

TEST(Batches, UseTheSmallestCorpusThatFits) {
  const TestFolder f;
  const Batch batch = Batches(counting_stream(f, 9), "h", 1, 1, 8).at(0);
  EXPECT_EQ(starts(batch), (std::vector<int64_t>{0}));
  EXPECT_EQ(batch.targets.const_data_ptr<int64_t>()[7], 8);
}

TEST(Batches, RefuseACorpusSmallerThanOneBatch) {
  const TestFolder f;
  const auto stream = counting_stream(f, 100);
  const std::string message = error_of(Code::Format, [&] { Batches(stream, "h", 1, 12, 8); });
  expect_contains(message,
                  "corpus smaller than one batch: 100 tokens give 11 windows of 8, one "
                  "batch needs 12");
  expect_contains(error_of(Code::Format, [&] { Batches(stream, "h", 1, 1, 100); }), "0 windows");
  expect_contains(error_of(Code::Usage, [&] { Batches(stream, "h", 1, 0, 8); }),
                  "batch and length must be at least 1, got 0 and 8");
}

TEST(Permutation, MatchesThePinnedCase) {
  std::vector<uint64_t> image;
  for (uint64_t i = 0; i < 10; ++i) {
    image.push_back(permuted(i, 10, 42));
  }
  EXPECT_EQ(image, (std::vector<uint64_t>{3, 5, 2, 6, 4, 9, 0, 7, 8, 1}));
}

TEST(Permutation, IsOneToOneForEverySize) {
  for (const uint64_t n : {1ULL, 2ULL, 3ULL, 5ULL, 64ULL, 65ULL, 1000ULL, 4097ULL}) {
    std::vector<bool> hit(n, false);
    for (uint64_t i = 0; i < n; ++i) {
      const uint64_t image = permuted(i, n, 7);
      ASSERT_LT(image, n);
      ASSERT_FALSE(hit[image]);
      hit[image] = true;
    }
  }
}

// 3,000 draws into 8 positions: each expects 375, standard deviation 18; 6 of them allowed.
TEST(Permutation, SpreadsEachPlaceEvenlyOverKeys) {
  std::vector<int> count(8, 0);
  for (uint64_t key = 0; key < 3000; ++key) {
    ++count[permuted(3, 8, key * 0x9e3779b97f4a7c15ULL)];
  }
  for (const int n : count) {
    EXPECT_NEAR(n, 375, 108);
  }
}

}  // namespace
}  // namespace gyre::data
