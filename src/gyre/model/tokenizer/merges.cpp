// Tricks: an open-addressed table (a std::unordered_map halves the speed); ranks of neighbours are
// kept during a scan, so that a merge looks up two pairs only; a heap with stale entries for long
// lists, so that a text without spaces stays near linear.
#include "gyre/model/tokenizer/merges.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <queue>

namespace gyre::model {
namespace {

constexpr int32_t kNoRank = std::numeric_limits<int32_t>::max();
constexpr size_t kLongest = 48;  // symbols that are scanned rather than heaped

uint64_t key_of(int32_t left, int32_t right) {
  return (static_cast<uint64_t>(static_cast<uint32_t>(left)) << 32U) | static_cast<uint32_t>(right);
}

}  // namespace

MergeRules::MergeRules(const std::vector<MergeRule>& rules)
    : slots_(std::bit_ceil(rules.size() * 2 + 2)), mask_(slots_.size() - 1) {
  for (const MergeRule& rule : rules) {
    Slot& slot = const_cast<Slot&>(find(rule.left, rule.right));
    n_rules_ += slot.key == UINT64_MAX ? 1 : 0;
    slot = {key_of(rule.left, rule.right), rule.rank, rule.result};
  }
}

const MergeRules::Slot& MergeRules::find(int32_t left, int32_t right) const {
  const uint64_t key = key_of(left, right);
  const uint64_t mixed = key * 0x9e3779b97f4a7c15ULL;
  size_t i = (mixed ^ (mixed >> 32U)) & mask_;
  while (slots_[i].key != key && slots_[i].key != UINT64_MAX) {
    i = (i + 1) & mask_;
  }
  return slots_[i];
}

void MergeRules::apply(std::vector<int32_t>& symbols) const {
  if (symbols.size() < 2 || n_rules_ == 0) {
    return;
  }
  if (symbols.size() <= kLongest) {
    scan(symbols);
  } else {
    by_heap(symbols);
  }
}

void MergeRules::scan(std::vector<int32_t>& symbols) const {
  std::array<int32_t, kLongest> ranks{};
  std::array<int32_t, kLongest> results{};
  size_t n = symbols.size();
  const auto look = [&](size_t i) {
    const Slot& slot = find(symbols[i], symbols[i + 1]);
    ranks[i] = slot.key == UINT64_MAX ? kNoRank : slot.rank;
    results[i] = slot.result;
  };
  for (size_t i = 0; i + 1 < n; ++i) {
    look(i);
  }
  while (n > 1) {
    const auto* best = std::min_element(ranks.begin(), ranks.begin() + (n - 1));
    if (*best == kNoRank) {
      break;
    }
    const auto at = static_cast<size_t>(best - ranks.begin());
    symbols[at] = results[at];
    for (size_t i = at + 1; i + 1 < n; ++i) {
      symbols[i] = symbols[i + 1];
      ranks[i] = ranks[i + 1];
      results[i] = results[i + 1];
    }
    --n;
    if (at + 1 < n) {
      look(at);
    }
    if (at > 0) {
      look(at - 1);
    }
  }
  symbols.resize(n);
}

namespace {

struct Candidate {
  int32_t rank;
  uint32_t at;
  int32_t left, right;  // what stood there when it was found; else it is stale
  int32_t result;
  bool operator<(const Candidate& other) const {  // top of the heap: lowest rank, then leftmost
    return rank != other.rank ? rank > other.rank : at > other.at;
  }
};

struct Link {
  int32_t symbol;
  uint32_t previous, next;
};

constexpr uint32_t kEnd = UINT32_MAX;
constexpr int32_t kGone = -1;

}  // namespace

void MergeRules::by_heap(std::vector<int32_t>& symbols) const {
  const auto n = static_cast<uint32_t>(symbols.size());
  std::vector<Link> links(n);
  for (uint32_t i = 0; i < n; ++i) {
    links[i] = {symbols[i], i == 0 ? kEnd : i - 1, i + 1 == n ? kEnd : i + 1};
  }
  std::vector<Candidate> first;
  const auto candidate_at = [&](uint32_t at, std::vector<Candidate>* list,
                                std::priority_queue<Candidate>* heap) {
    if (at == kEnd || links[at].next == kEnd) {
      return;
    }
    const int32_t right = links[links[at].next].symbol;
    const Slot& slot = find(links[at].symbol, right);
    if (slot.key != UINT64_MAX) {
      const Candidate one{slot.rank, at, links[at].symbol, right, slot.result};
      list != nullptr ? list->push_back(one) : heap->push(one);
    }
  };
  for (uint32_t i = 0; i + 1 < n; ++i) {
    candidate_at(i, &first, nullptr);
  }
  std::priority_queue<Candidate> heap(std::less<Candidate>{}, std::move(first));
  while (!heap.empty()) {
    const Candidate top = heap.top();
    heap.pop();
    Link& link = links[top.at];
    if (link.symbol != top.left || link.next == kEnd || links[link.next].symbol != top.right) {
      continue;
    }
    Link& gone = links[link.next];
    link.symbol = top.result;
    gone.symbol = kGone;
    link.next = gone.next;
    if (link.next != kEnd) {
      links[link.next].previous = top.at;
    }
    candidate_at(link.previous, nullptr, &heap);
    candidate_at(top.at, nullptr, &heap);
  }
  size_t out = 0;
  for (const Link& link : links) {
    if (link.symbol != kGone) {
      symbols[out++] = link.symbol;
    }
  }
  symbols.resize(out);
}

}  // namespace gyre::model
