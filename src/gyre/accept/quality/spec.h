// What a cell of levels 2 and 3 asks: a task with its dials, and how to make each of its items.
// The item of an index is the same fact in every bucket, at every length, with every number of
// distractors; so effects are paired, and the items of one index are a cluster.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "gyre/accept/options.h"
#include "gyre/accept/tasks/task.h"

namespace gyre::accept {

inline constexpr int64_t kBuckets = 5;  // of the evidence's position

/// Which item of a cell.
struct Slot {
  int64_t bucket = 0, index = 0;
};

struct Spec {
  int64_t level = 2;
  std::string task;                          // needle | plain | join | sum | chain | contradiction
  std::map<std::string, std::string> dials;  // of the cell: "k": "7", "s": "2"
  std::function<Item(const Slot& slot, Arm arm, const Frame& frame)> make;
  /// Control: one step of an item alone, 1 ... steps(index); not for every task.
  std::function<int64_t(int64_t index)> steps;
  std::function<Item(const Slot& slot, int64_t step, const Frame& frame)> make_step;

  std::string label() const;  // "needle k=7 s=2"
};

/// A place inside a bucket: fractions of the filler, spread evenly over the indices.
double place_in(int64_t bucket, int64_t index);
/// n places, the first in `bucket`, the others in other buckets, drawn by the index alone; with
/// more than kBuckets places the buckets repeat.
std::vector<double> places_from(int64_t bucket, int64_t index, int64_t n, uint64_t seed);

std::vector<Spec> retrieval_specs(const AcceptOptions& options);
std::vector<Spec> composition_specs(const AcceptOptions& options);

}  // namespace gyre::accept
