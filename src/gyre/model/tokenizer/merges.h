// The merging step of every BPE here: a table of pairs with ranks, applied lowest rank first and
// leftmost among equals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gyre::model {

struct MergeRule {
  int32_t left, right;  // symbols
  int32_t rank;         // lower merges first
  int32_t result;
};

class MergeRules {
 public:
  MergeRules() : MergeRules(std::vector<MergeRule>{}) {}
  /// A pair named twice takes the later rule, as peers do.
  explicit MergeRules(const std::vector<MergeRule>& rules);

  /// Merges `symbols` in place until no rule applies. Short lists are scanned, long ones go through
  /// a heap: n symbols cost O(n log n).
  void apply(std::vector<int32_t>& symbols) const;
  bool empty() const { return n_rules_ == 0; }

 private:
  struct Slot {
    uint64_t key = UINT64_MAX;
    int32_t rank = 0;
    int32_t result = 0;
  };
  const Slot& find(int32_t left, int32_t right) const;
  void scan(std::vector<int32_t>& symbols) const;
  void by_heap(std::vector<int32_t>& symbols) const;

  std::vector<Slot> slots_;
  size_t mask_ = 0;
  size_t n_rules_ = 0;
};

}  // namespace gyre::model
