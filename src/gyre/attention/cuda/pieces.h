// A mask as calls of a flash attention that knows causal rows and windows alone.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::attention::cuda {

/// Query rows q_begin, q_begin + step, ... (0 = first query) against keys k_begin, k_begin + step,
/// ...; the last query stands at the last key. `folds` equal pieces lie one after the other:
///   chunk 4, T 8:   one piece of 2 folds, 4 queries and 4 keys each
struct Piece {
  int64_t q_begin = 0, n_queries = 0;
  int64_t k_begin = 0, n_keys = 0;
  int64_t step = 1, folds = 1;
  int64_t window = 0;    // in steps, itself included; 0 = all
  bool causal = true;    // false: every query sees every key
  bool further = false;  // its rows belong to an earlier piece too: outputs are merged
};

/// Pieces that together compute each of the last n_queries of n_keys tokens: once, but for rows
/// past the global tokens, which see those in a second piece.
std::vector<Piece> pieces(const position::MaskSpec& mask, int64_t n_queries, int64_t n_keys);

}  // namespace gyre::attention::cuda
