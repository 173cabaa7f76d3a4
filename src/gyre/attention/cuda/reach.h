// Which keys each block of queries reads, for attention made of whole operators (plain.cpp):
// it computes every (query, key) of a block and masks the few that MaskSpec::sees refuses.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::attention::cuda {

/// Queries q_begin, q_begin + step, ... and keys 0..n_prefix-1 and k_begin, k_begin + step, ...
/// A dilated mask is one plain window per residue class, so step is its dilation. Chunks are blocks
/// whose keys begin at the chunk.
///   window 3, global 2, block 2:      keys  0 1 . . . . 4 5 6 7     n_prefix 2, k_begin 4
///                                     query             . . x x     q_begin 6, n_queries 2
/// All prefix keys are seen; key c of the range is seen when 0 <= offset() + a - c and, with a
/// window, < window, a being the row of the query.
struct Reach {
  int64_t q_begin = 0, n_queries = 0;  // indices among the keys, as in MaskSpec::sees
  int64_t k_begin = 0, n_keys = 0;
  int64_t step = 1;
  int64_t n_prefix = 0;
  int64_t window = 0;  // in steps; 0 = all earlier keys of the range

  /// Steps from the first key of the range to the first query.
  int64_t offset() const { return (q_begin - k_begin) / step; }
  /// (query, key) pairs computed.
  int64_t visited() const { return n_queries * (n_prefix + n_keys); }
};

/// Blocks that together hold each of the last n_queries of n_keys tokens once.
std::vector<Reach> reach(const position::MaskSpec& mask, int64_t n_queries, int64_t n_keys,
                         int64_t block);

}  // namespace gyre::attention::cuda
