// The keys that each role of a head looks at, as masks over queries and keys of a row.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <vector>

#include "gyre/analyze/layer_record.h"
#include "gyre/analyze/rows.h"

namespace gyre::analyze {

/// A score is the sum of weights on `keys` over `n_queries`.
struct Target {
  at::Tensor keys;  // [T, T] bool, row = query; rows of queries that do not count are empty
  double n_queries = 0.0;
  double chance = 0.0;  // mean share of such keys among all earlier keys and the query's own
};

/// The first queries see so few keys that any weight is large: they do not count.
inline constexpr int64_t kFirstQuery = 8;

struct Targets {
  Target diagonal, previous, sink;  // of text rows
  Target induction;                 // of repeat rows
  std::vector<Target> content;      // of each alphabet row: earlier equal tokens, but the last two
};

Targets make_targets(const Rows& rows);

}  // namespace gyre::analyze
