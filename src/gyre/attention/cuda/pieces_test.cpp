// Pieces against MaskSpec::sees, pair by pair.
#include "gyre/attention/cuda/pieces.h"

#include <gtest/gtest.h>

#include <map>

#include "gyre/base/error.h"

namespace gyre::attention::cuda {
namespace {

using position::MaskSpec;

constexpr const char* kMasks[] = {
    "full",      "window:1", "window:5",         "dilated:3x2",      "window:4+global:2",
    "window:40", "chunk:6",  "chunk:4+global:1", "chunk:4+global:6", "dilated:2x5+global:3"};

// How often each (query, key) is computed, keys counted among all, by the rule in pieces.h.
std::map<std::pair<int64_t, int64_t>, int> computed(const MaskSpec& mask, int64_t T, int64_t S) {
  std::map<std::pair<int64_t, int64_t>, int> counts;
  for (const Piece& p : pieces(mask, T, S)) {
    for (int64_t fold = 0; fold < p.folds; ++fold) {
      for (int64_t a = 0; a < p.n_queries; ++a) {
        for (int64_t c = 0; c < p.n_keys; ++c) {
          const int64_t back = a + p.n_keys - p.n_queries - c;
          if (p.causal && (back < 0 || (p.window > 0 && back >= p.window))) {
            continue;
          }
          const int64_t query = p.q_begin + (fold * p.n_queries + a) * p.step;
          ++counts[{S - T + query, p.k_begin + (fold * p.n_keys + c) * p.step}];
        }
      }
    }
  }
  return counts;
}

TEST(CudaPieces, ComputeEachVisiblePairOnce) {
  for (const char* text : kMasks) {
    const MaskSpec mask = position::parse_masks(text, 1).front();
    for (const auto& [T, S] : {std::pair<int64_t, int64_t>{1, 1},
                               {1, 9},
                               {7, 7},
                               {24, 24},
                               {5, 24},
                               {23, 24},
                               {3, 4},
                               {20, 61}}) {
      auto counts = computed(mask, T, S);
      for (int64_t i = S - T; i < S; ++i) {
        for (int64_t j = 0; j < S; ++j) {
          EXPECT_EQ((counts[{i, j}]), mask.sees(i, j) ? 1 : 0)
              << text << " T " << T << " S " << S << " query " << i << " key " << j;
        }
      }
    }
  }
}

TEST(CudaPieces, EqualChunksAreOnePiece) {
  const auto found = pieces(position::parse_masks("chunk:4", 1).front(), 14, 16);
  ASSERT_EQ(found.size(), 2U);  // the end of the first chunk, then three whole ones
  EXPECT_EQ(found[0].n_queries, 2);
  EXPECT_EQ(found[1].folds, 3);
}

TEST(CudaPieces, RowsOfLaterPiecesWereWrittenBefore) {
  for (const char* text : kMasks) {
    const MaskSpec mask = position::parse_masks(text, 1).front();
    std::vector<int> writes(20, 0);
    for (const Piece& p : pieces(mask, 20, 20)) {
      for (int64_t a = 0; a < p.n_queries * p.folds; ++a) {
        int& n = writes[static_cast<size_t>(p.q_begin + a * p.step)];
        EXPECT_EQ(p.further, n > 0) << text;
        ++n;
      }
    }
    for (const int n : writes) {
      EXPECT_GE(n, 1) << text;
    }
  }
}

}  // namespace
}  // namespace gyre::attention::cuda
