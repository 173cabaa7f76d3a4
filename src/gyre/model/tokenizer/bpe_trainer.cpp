// Learns BPE merges from piece counts. A pair keeps its count and the words it occurs in, so a
// merge touches only those words; the heap is lazy: stale entries are corrected when they surface.
#include <algorithm>
#include <queue>
#include <unordered_map>

#include "gyre/base/log.h"
#include "gyre/base/progress.h"
#include "gyre/model/tokenizer/bpe.h"
#include "gyre/model/tokenizer/pieces.h"

namespace gyre::model {
namespace {

using PairKey = uint64_t;  // first id << 32 | second id: comparing keys compares pairs

PairKey key_of(int32_t a, int32_t b) {
  return (static_cast<PairKey>(static_cast<uint32_t>(a)) << 32U) | static_cast<uint32_t>(b);
}

struct Word {
  std::vector<int32_t> ids;
  int64_t count;
};

struct PairUse {
  int64_t count = 0;
  std::vector<uint32_t> words;  // may name a word twice or one that lost the pair
};

struct Candidate {
  int64_t count;
  PairKey pair;
  bool operator<(const Candidate& other) const {  // top of the heap: most frequent, then smallest
    return count != other.count ? count < other.count : pair > other.pair;
  }
};

std::vector<Word> count_words(const std::vector<std::string_view>& texts) {
  std::unordered_map<std::string_view, int64_t> counts;
  for (const std::string_view text : texts) {
    for (size_t i = 0; i < text.size();) {
      const size_t n = piece_length(text, i);
      ++counts[text.substr(i, n)];
      i += n;
    }
  }
  std::vector<std::pair<std::string_view, int64_t>> sorted(counts.begin(), counts.end());
  std::sort(sorted.begin(), sorted.end());
  std::vector<Word> words;
  words.reserve(sorted.size());
  for (const auto& [text, count] : sorted) {
    Word word{{}, count};
    for (const char c : text) {
      word.ids.push_back(static_cast<unsigned char>(c));
    }
    words.push_back(std::move(word));
  }
  return words;
}

class Trainer {
 public:
  explicit Trainer(std::vector<Word> words) : words_(std::move(words)) {
    for (uint32_t w = 0; w < words_.size(); ++w) {
      add_pairs(w);
    }
    for (const auto& [pair, use] : pairs_) {
      heap_.push({use.count, pair});
    }
  }

  /// The next pair to merge, or false when none occurs twice.
  bool next(Merge& merge) {
    while (!heap_.empty()) {
      const Candidate top = heap_.top();
      heap_.pop();
      const auto found = pairs_.find(top.pair);
      const int64_t now = found == pairs_.end() ? 0 : found->second.count;
      if (now == top.count && now >= 2) {
        merge = {static_cast<int32_t>(top.pair >> 32U),
                 static_cast<int32_t>(top.pair & 0xffffffffU)};
        return true;
      }
      if (now >= 2 && now < top.count) {
        heap_.push({now, top.pair});
      }
    }
    return false;
  }

  void apply(const Merge& merge, int32_t new_id) {
    const PairKey pair = key_of(merge.first, merge.second);
    std::vector<uint32_t> uses = std::move(pairs_.at(pair).words);
    std::sort(uses.begin(), uses.end());
    uses.erase(std::unique(uses.begin(), uses.end()), uses.end());
    touched_.clear();
    for (const uint32_t w : uses) {
      remove_pairs(w);
      replace(words_[w].ids, merge, new_id);
      add_pairs(w);
    }
    pairs_.erase(pair);
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());
    for (const PairKey key : touched_) {
      if (const auto found = pairs_.find(key); found != pairs_.end()) {
        heap_.push({found->second.count, key});
      }
    }
  }

 private:
  void add_pairs(uint32_t w) {
    const Word& word = words_[w];
    for (size_t i = 1; i < word.ids.size(); ++i) {
      const PairKey key = key_of(word.ids[i - 1], word.ids[i]);
      PairUse& use = pairs_[key];
      use.count += word.count;
      if (use.words.empty() || use.words.back() != w) {
        use.words.push_back(w);
      }
      if (word.ids[i - 1] == newest_ || word.ids[i] == newest_) {
        touched_.push_back(key);
      }
    }
  }

  void remove_pairs(uint32_t w) {
    const Word& word = words_[w];
    for (size_t i = 1; i < word.ids.size(); ++i) {
      pairs_.at(key_of(word.ids[i - 1], word.ids[i])).count -= word.count;
    }
  }

  void replace(std::vector<int32_t>& ids, const Merge& merge, int32_t new_id) {
    newest_ = new_id;
    size_t out = 0;
    for (size_t i = 0; i < ids.size(); ++out) {
      const bool match = i + 1 < ids.size() && ids[i] == merge.first && ids[i + 1] == merge.second;
      ids[out] = match ? new_id : ids[i];
      i += match ? 2 : 1;
    }
    ids.resize(out);
  }

  std::vector<Word> words_;
  std::unordered_map<PairKey, PairUse> pairs_;
  std::priority_queue<Candidate> heap_;
  std::vector<PairKey> touched_;  // pairs with the newest id: only their counts can have risen
  int32_t newest_ = -1;
};

}  // namespace

std::vector<Merge> learn_merges(const std::vector<std::string_view>& texts, int64_t n_merges) {
  Trainer trainer(count_words(texts));
  std::vector<Merge> merges;
  Progress progress("learning BPE", n_merges, "merges");
  Merge merge;
  while (static_cast<int64_t>(merges.size()) < n_merges && trainer.next(merge)) {
    trainer.apply(merge, kFirstMergeId + static_cast<int32_t>(merges.size()));
    merges.push_back(merge);
    progress.update(static_cast<int64_t>(merges.size()));
  }
  return merges;
}

std::unique_ptr<Tokenizer> train_bpe(const std::vector<std::string_view>& texts, int64_t vocab) {
  if (vocab < kFirstMergeId || vocab > (1 << 24)) {
    throw Error(Code::Usage,
                "bpe vocabulary must be in [257, 16777216] (256 bytes and the end of a "
                "document come first), got ",
                vocab);
  }
  std::vector<Merge> merges = learn_merges(texts, vocab - kFirstMergeId);
  const int64_t reached = kFirstMergeId + static_cast<int64_t>(merges.size());
  if (reached < vocab) {
    log(Level::Warning, "bpe: the text gives a vocabulary of ", reached, ", not ", vocab,
        ": no pair occurs twice any more");
  }
  return bpe_tokenizer(std::move(merges));
}

}  // namespace gyre::model
