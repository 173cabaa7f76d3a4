// Applies learned merges: in each piece the earliest-learned pair is merged first, until none is
// left. Pieces repeat, so each call remembers the ids of those it has met.
#include <bit>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/bpe.h"
#include "gyre/model/tokenizer/pieces.h"

namespace gyre::model {
namespace {

constexpr int32_t kNoRank = std::numeric_limits<int32_t>::max();

/// Pair -> rank by open addressing; a std::unordered_map made encoding half as fast.
class MergeTable {
 public:
  explicit MergeTable(const std::vector<Merge>& merges)
      : slots_(std::bit_ceil(merges.size() * 2 + 2)), mask_(slots_.size() - 1) {
    for (size_t r = 0; r < merges.size(); ++r) {
      const uint64_t key = key_of(merges[r].first, merges[r].second);
      Slot& slot = slots_[find(key)];
      if (slot.rank != kNoRank) {
        throw Error(Code::Format, "bpe: merges ", slot.rank, " and ", r, " are the same pair");
      }
      slot = {key, static_cast<int32_t>(r)};
    }
  }
  int32_t rank(int32_t a, int32_t b) const { return slots_[find(key_of(a, b))].rank; }

 private:
  struct Slot {
    uint64_t key = UINT64_MAX;
    int32_t rank = kNoRank;
  };
  static uint64_t key_of(int32_t a, int32_t b) {
    return (static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32U) | static_cast<uint32_t>(b);
  }
  size_t find(uint64_t key) const {
    size_t i = (key * 0x9e3779b97f4a7c15ULL >> 20U) & mask_;
    while (slots_[i].key != key && slots_[i].key != UINT64_MAX) {
      i = (i + 1) & mask_;
    }
    return i;
  }
  std::vector<Slot> slots_;
  size_t mask_;
};

void check_merges(const std::vector<Merge>& merges) {
  for (size_t r = 0; r < merges.size(); ++r) {
    const int32_t known = kFirstMergeId + static_cast<int32_t>(r);
    for (const int32_t id : {merges[r].first, merges[r].second}) {
      if (id < 0 || id >= known || id == kBpeEndOfDocument) {
        throw Error(Code::Format, "bpe: merge ", r, " uses id ", id, "; ids before it are 0-255",
                    r > 0 ? str(" and 257-", known - 1) : "");
      }
    }
  }
}

class BpeTokenizer : public Tokenizer {
 public:
  explicit BpeTokenizer(std::vector<Merge> merges)
      : merges_((check_merges(merges), std::move(merges))), table_(merges_) {
    for (int b = 0; b < 256; ++b) {
      bytes_.emplace_back(1, static_cast<char>(b));
    }
    bytes_.emplace_back();
    for (const auto& [a, b] : merges_) {
      bytes_.push_back(bytes_[static_cast<size_t>(a)] + bytes_[static_cast<size_t>(b)]);
    }
  }

  std::string kind() const override { return "bpe"; }
  int64_t vocab() const override { return static_cast<int64_t>(bytes_.size()); }
  int64_t end_of_document() const override { return kBpeEndOfDocument; }

  std::vector<int32_t> encode(std::string_view text, Specials /*none*/) const override {
    std::vector<int32_t> ids;
    ids.reserve(text.size() / 2);
    std::unordered_map<std::string_view, std::pair<size_t, size_t>> seen;  // span of `ids`
    std::vector<int32_t> work;
    for (size_t i = 0; i < text.size();) {
      const std::string_view piece = text.substr(i, piece_length(text, i));
      i += piece.size();
      const auto [entry, fresh] = seen.try_emplace(piece, ids.size(), 0);
      auto& [begin, count] = entry->second;
      if (fresh) {
        merge_piece(piece, work);
        count = work.size();
        ids.insert(ids.end(), work.begin(), work.end());
      } else {
        for (size_t k = 0; k < count; ++k) {
          ids.push_back(ids[begin + k]);
        }
      }
    }
    return ids;
  }

  std::string decode(const std::vector<int32_t>& ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      text += piece(id);
    }
    return text;
  }

  std::string piece(int32_t id) const override {
    if (id < 0 || id >= vocab()) {
      throw Error(Code::Usage, "bpe: id ", id, " is outside the vocabulary of ", vocab());
    }
    return bytes_[static_cast<size_t>(id)];
  }
  bool is_special(int32_t id) const override { return id == kBpeEndOfDocument; }
  SpecialIds special_ids() const override { return {-1, {kBpeEndOfDocument}, false, false}; }

  std::string serialize() const override {
    const nlohmann::ordered_json json = {
        {"schema", "gyre.tokenizer/1"}, {"kind", "bpe"}, {"vocab", vocab()}, {"merges", merges_}};
    return json.dump();
  }

 private:
  void merge_piece(std::string_view piece, std::vector<int32_t>& ids) const {
    ids.clear();
    for (const char c : piece) {
      ids.push_back(static_cast<unsigned char>(c));
    }
    while (ids.size() > 1) {
      int32_t best = kNoRank;
      for (size_t i = 1; i < ids.size(); ++i) {
        best = std::min(best, table_.rank(ids[i - 1], ids[i]));
      }
      if (best == kNoRank) {
        return;
      }
      replace(ids, merges_[static_cast<size_t>(best)], kFirstMergeId + best);
    }
  }

  static void replace(std::vector<int32_t>& ids, const Merge& merge, int32_t new_id) {
    size_t out = 0;
    for (size_t i = 0; i < ids.size(); ++out) {
      const bool match = i + 1 < ids.size() && ids[i] == merge.first && ids[i + 1] == merge.second;
      ids[out] = match ? new_id : ids[i];
      i += match ? 2 : 1;
    }
    ids.resize(out);
  }

  std::vector<Merge> merges_;
  MergeTable table_;
  std::vector<std::string> bytes_;  // id -> bytes
};

}  // namespace

std::unique_ptr<Tokenizer> bpe_tokenizer(std::vector<Merge> merges) {
  return std::make_unique<BpeTokenizer>(std::move(merges));
}

}  // namespace gyre::model
