// Tricks: a piece is cut where no rule joins its neighbours, so that texts that come as one piece
// (SentencePiece-type models) still consist of words that repeat.
#include "gyre/model/tokenizer/bpe_model.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

constexpr int32_t kGap = std::numeric_limits<int32_t>::max();  // no rule has it

uint64_t joint_key(uint32_t left, uint32_t right) {
  return (static_cast<uint64_t>(left) << 21U | right) + 1;  // never 0
}

size_t joint_slot(uint64_t key, size_t n_slots) {
  return (key * 0x9e3779b97f4a7c15ULL >> 24U) & (n_slots - 1);
}

}  // namespace

BpeModel::BpeModel(BpeParts parts)
    : n_ids_(parts.n_ids),
      rules_(parts.rules),
      byte_ids_(parts.byte_ids),
      bytes_(parts.bytes),
      byte_fallback_(parts.byte_fallback),
      whole_first_(parts.whole_first),
      fuse_unknown_(parts.fuse_unknown),
      separates_(parts.separates),
      unknown_(parts.unknown) {
  ascii_.fill(-1);
  cuts_ = !bytes_ && learn_joints(parts);
  extra_.assign(parts.texts.begin() + static_cast<int64_t>(n_ids_), parts.texts.end());
  symbols_.reserve(whole_first_ ? parts.texts.size() : 0);
  for (size_t s = 0; s < parts.texts.size(); ++s) {
    const std::string& text = parts.texts[s];
    if (text.size() == 1 && is_ascii(text)) {
      ascii_[static_cast<unsigned char>(text[0])] = static_cast<int32_t>(s);
    }
    // Only whole pieces and single characters are ever looked up.
    if (!text.empty() && (whole_first_ || (!bytes_ && code_point_bytes(text[0]) == text.size()))) {
      symbols_[std::move(parts.texts[s])] = static_cast<int32_t>(s);
    }
  }
  // Unknown characters that fuse do so across a cut.
  cuts_ = cuts_ && (unknown_ < 0 || !fuse_unknown_ || knows_all());
}

bool BpeModel::knows_all() const {
  for (size_t byte = 0; byte < 0xf5; ++byte) {
    const bool occurs = byte != 0xc0 && byte != 0xc1;
    const bool known = byte_fallback_ && byte_ids_[byte] >= 0;
    if (occurs && !known && (byte >= 0x80 || ascii_[byte] < 0)) {
      return false;
    }
  }
  return true;
}

bool BpeModel::learn_joints(const BpeParts& parts) {
  ascii_joints_.assign(128 * 128, false);
  joints_.assign(std::bit_ceil(parts.rules.size() * 2 + 2), 0);
  for (const MergeRule& rule : parts.rules) {
    const std::string& left = parts.texts[static_cast<size_t>(rule.left)];
    const std::string& right = parts.texts[static_cast<size_t>(rule.right)];
    if (left.empty() || right.empty()) {
      return false;  // a rule on byte tokens joins what no text shows
    }
    const uint32_t a = code_point_before(left, left.size()).value;
    const uint32_t b = code_point(right, 0).value;
    if (a < 128 && b < 128) {
      ascii_joints_[a * 128 + b] = true;
      continue;
    }
    const uint64_t key = joint_key(a, b);
    size_t i = joint_slot(key, joints_.size());
    while (joints_[i] != 0 && joints_[i] != key) {
      i = (i + 1) & (joints_.size() - 1);
    }
    joints_[i] = key;
  }
  return !parts.rules.empty();
}

bool BpeModel::joins(uint32_t left, uint32_t right) const {
  if (left < 128 && right < 128) {
    return ascii_joints_[left * 128 + right];
  }
  const uint64_t key = joint_key(left, right);
  size_t i = joint_slot(key, joints_.size());
  while (joints_[i] != 0 && joints_[i] != key) {
    i = (i + 1) & (joints_.size() - 1);
  }
  return joints_[i] == key;
}

size_t BpeModel::stretch_end(std::string_view piece, size_t begin) const {
  CodePoint last = code_point(piece, begin);
  size_t i = begin + last.n_bytes;
  while (i < piece.size()) {
    const CodePoint next = code_point(piece, i);
    if (!joins(last.value, next.value)) {
      break;
    }
    last = next;
    i += next.n_bytes;
  }
  return i;
}

int32_t BpeModel::symbol_of(std::string_view character) const {
  if (bytes_) {
    return byte_ids_[static_cast<unsigned char>(character[0])];
  }
  if (character.size() == 1) {
    return ascii_[static_cast<unsigned char>(character[0])];
  }
  const auto found = symbols_.find(std::string(character));
  return found == symbols_.end() ? -1 : found->second;
}

void BpeModel::unknown_character(std::string_view character, std::vector<int32_t>& symbols,
                                 bool& pending) const {
  const bool fallback =
      byte_fallback_ && std::all_of(character.begin(), character.end(), [&](char c) {
        return byte_ids_[static_cast<unsigned char>(c)] >= 0;
      });
  if (fallback) {
    for (const char c : character) {
      symbols.push_back(byte_ids_[static_cast<unsigned char>(c)]);
    }
  } else if (unknown_ >= 0 && !(pending && fuse_unknown_)) {
    symbols.push_back(unknown_);
    pending = true;
  } else if (unknown_ < 0 && separates_) {
    symbols.push_back(kGap);
  }
}

void BpeModel::encode(std::string_view piece, std::vector<int32_t>& ids) const {
  if (whole_first_) {
    const auto found = symbols_.find(std::string(piece));
    if (found != symbols_.end()) {
      ids.push_back(found->second);
      return;
    }
  }
  std::vector<int32_t> symbols;
  symbols.reserve(piece.size());
  bool pending = false;  // the last symbol is the unknown token
  for (size_t i = 0; i < piece.size();) {
    const size_t n = bytes_ ? 1 : code_point_bytes(piece[i]);
    const int32_t symbol = symbol_of(piece.substr(i, n));
    if (symbol >= 0) {
      symbols.push_back(symbol);
      pending = false;
    } else {
      unknown_character(piece.substr(i, n), symbols, pending);
    }
    i += n;
  }
  rules_.apply(symbols);
  for (const int32_t symbol : symbols) {
    if (static_cast<size_t>(symbol) < n_ids_) {
      ids.push_back(symbol);
      continue;
    }
    if (symbol == kGap) {
      continue;
    }
    bool fresh = false;
    unknown_character(extra_[static_cast<size_t>(symbol) - n_ids_], ids, fresh);
  }
}

}  // namespace gyre::model
