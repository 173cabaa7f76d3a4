// Reach: every seen key is read, each once, and a window reads no more than window + block keys.
#include "gyre/attention/cuda/reach.h"

#include <gtest/gtest.h>

#include <map>

namespace gyre::attention::cuda {
namespace {

struct Case {
  position::MaskSpec mask;
  int64_t n_queries, n_keys, block;
};

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const position::MaskSpec& mask : {position::MaskSpec{},
                                         {1, 1, 0},
                                         {5, 1, 0},
                                         {100, 1, 0},
                                         {3, 4, 0},
                                         {4, 1, 3},
                                         {2, 5, 7},
                                         {3, 1, 90},
                                         {0, 1, 0, 1},
                                         {0, 1, 0, 7},
                                         {0, 1, 0, 100},
                                         {0, 1, 3, 16},
                                         {0, 1, 20, 16}}) {
    for (const auto& [n_queries, n_keys] :
         {std::pair<int64_t, int64_t>{50, 50}, {1, 1}, {1, 33}, {20, 61}}) {
      for (const int64_t block : {1, 4, 64}) {
        out.push_back({mask, n_queries, n_keys, block});
      }
    }
  }
  return out;
}

// How often each (query, key) is read and not hidden by the block's own rule.
std::map<std::pair<int64_t, int64_t>, int> seen_pairs(const std::vector<Reach>& blocks) {
  std::map<std::pair<int64_t, int64_t>, int> seen;
  for (const Reach& block : blocks) {
    for (int64_t a = 0; a < block.n_queries; ++a) {
      const int64_t i = block.q_begin + a * block.step;
      for (int64_t j = 0; j < block.n_prefix; ++j) {
        ++seen[{i, j}];
      }
      for (int64_t c = 0; c < block.n_keys; ++c) {
        const int64_t distance = block.offset() + a - c;
        if (distance >= 0 && (block.window == 0 || distance < block.window)) {
          ++seen[{i, block.k_begin + c * block.step}];
        }
      }
    }
  }
  return seen;
}

TEST(Reach, ReadsEveryVisibleKeyOnce) {
  for (const Case& one : cases()) {
    auto seen = seen_pairs(reach(one.mask, one.n_queries, one.n_keys, one.block));
    for (int64_t i = one.n_keys - one.n_queries; i < one.n_keys; ++i) {
      for (int64_t j = 0; j < one.n_keys; ++j) {
        const int times = seen[std::make_pair(i, j)];
        ASSERT_EQ(times, one.mask.sees(i, j) ? 1 : 0)
            << "window " << one.mask.window << " x " << one.mask.dilation << " global "
            << one.mask.n_global << " chunk " << one.mask.chunk << " block " << one.block
            << " query " << i << " key " << j;
        seen.erase({i, j});
      }
    }
    ASSERT_TRUE(seen.empty()) << "reads outside the sequence";
  }
}

TEST(Reach, AWindowReadsAtMostWindowPlusBlockKeysPerQuery) {
  for (const int64_t w : {1, 16, 128}) {
    for (const int64_t dilation : {1, 4}) {
      for (const int64_t T : {2000, 4000}) {
        int64_t visited = 0;
        for (const Reach& block : reach({w, dilation, 0}, T, T, 64)) {
          EXPECT_LE(block.n_keys, w + 64 - 1);
          visited += block.visited();
        }
        EXPECT_LE(visited, T * (w + 64));
        EXPECT_LT(visited, T * T / 4);  // real skipping: far below the dense half
      }
    }
  }
}

TEST(Reach, ChunksReadAtMostTheChunkPerQuery) {
  // O(T * chunk): a chunk of c tokens in blocks of b reads (c + b) / 2 keys per query on average.
  for (const int64_t chunk : {64, 256}) {
    for (const int64_t T : {2048, 4096}) {
      int64_t visited = 0;
      for (const Reach& block : reach({0, 1, 0, chunk}, T, T, 64)) {
        EXPECT_LE(block.n_keys, chunk);
        visited += block.visited();
      }
      EXPECT_EQ(visited, T * (chunk + 64) / 2);
    }
  }
}

TEST(Reach, GlobalTokensCostThemselvesOnly) {
  int64_t visited = 0;
  for (const Reach& block : reach({16, 1, 4}, 2000, 2000, 64)) {
    visited += block.visited();
  }
  EXPECT_LE(visited, 2000 * (16 + 64 + 4));
}

}  // namespace
}  // namespace gyre::attention::cuda
