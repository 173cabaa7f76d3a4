#include "gyre/accept/worst_bucket.h"

#include <tuple>

namespace gyre::accept {

std::optional<WorstBucket> worst_bucket(const std::vector<Cell>& cells) {
  const auto rank = [](const BucketResult& one) {
    return std::tuple(one.lower, static_cast<double>(one.correct) / static_cast<double>(one.n));
  };
  std::optional<WorstBucket> worst;
  for (const Cell& cell : cells) {
    for (size_t i = 0; cell.arm == "main" && i < cell.buckets.size(); ++i) {
      const WorstBucket here{&cell, i};
      if (here.result().n > 0 && (!worst || rank(here.result()) < rank(worst->result()))) {
        worst = here;
      }
    }
  }
  return worst;
}

}  // namespace gyre::accept
