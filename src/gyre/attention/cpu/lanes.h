// What each tile of queries sees. Tokens a multiple of the mask's dilation apart form a lane;
// inside a lane the visible keys of a query are one range, and those among the global first tokens
// another:
//   window 2, dilation 2, 1 global token      lane 0: tokens 0 2 4 ..   lane 1: tokens 1 3 5 ..
//   query 5 sees 0 | 3 5                      prefix [0, 1)             keys 1, 2 of lane 1
#pragma once

#include <vector>

#include "gyre/attention/cpu/params.h"
#include "gyre/position/plan.h"

namespace gyre::attention::cpu {

struct Lane {
  int64_t first = 0, stride = 1;  // key c has index first + stride * c
  int64_t n_keys = 0;
  int64_t n_queries = 0;
  int64_t first_query = 0;            // index of the first query among the keys
  std::vector<QueryTile> tiles;       // without data
  std::vector<int32_t> lo[2], hi[2];  // [sum of columns], of the prefix and of the lane
};

struct LanePlan {
  int64_t n_prefix = 0;  // global tokens, seen by all that come after them
  std::vector<Lane> lanes;
};

/// first_key  [T] or null: the first key that each query may see (documents, padding)
LanePlan make_lanes(const position::MaskSpec& mask, int64_t n_queries, int64_t n_keys,
                    const int64_t* first_key);

inline int64_t round_up(int64_t n, int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

}  // namespace gyre::attention::cpu
