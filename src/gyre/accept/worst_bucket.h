// The weakest place of a run: levels 2 and 3 are judged by it, not by their mean.
#pragma once

#include <optional>
#include <vector>

#include "gyre/accept/result.h"

namespace gyre::accept {

/// Borrows the cell.
struct WorstBucket {
  const Cell* cell = nullptr;
  size_t bucket = 0;  // 0 = the one at the beginning of the text

  const BucketResult& result() const { return cell->buckets[bucket]; }
};

/// Of the main arms: least lower bound, then least share right; none when nothing was asked.
std::optional<WorstBucket> worst_bucket(const std::vector<Cell>& cells);

}  // namespace gyre::accept
