// Tricks: one array of slots and one of bytes instead of a map of strings (three times as fast);
// keys are copied once, when a piece is new, because pieces may lie in a buffer that is reused.
#include <cstring>

#include "gyre/model/tokenizer/bpe_model.h"

namespace gyre::model {
namespace {

constexpr size_t kFirstSlots = 64;
constexpr size_t kMaxPieces = size_t{1} << 20U;  // then it starts again: a bound on its memory
constexpr size_t kLongestPiece = 128;            // bytes; longer ones hardly repeat

uint64_t mix(uint64_t a, uint64_t b) {
  const auto wide =
      static_cast<unsigned __int128>(a ^ 0x9e3779b97f4a7c15ULL) * (b ^ 0xd6e8feb86659fd93ULL);
  return static_cast<uint64_t>(wide) ^ static_cast<uint64_t>(wide >> 64U);
}

uint64_t hash_of(std::string_view piece) {
  uint64_t hash = piece.size();
  size_t i = 0;
  for (; i + 8 <= piece.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, piece.data() + i, 8);
    hash = mix(hash, word);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, piece.data() + i, piece.size() - i);
  return mix(hash, rest);
}

}  // namespace

PieceCache::PieceCache() : slots_(kFirstSlots) {}

void PieceCache::grow() {
  std::vector<Slot> old(used_ >= kMaxPieces ? kFirstSlots : slots_.size() * 2);
  old.swap(slots_);
  if (used_ >= kMaxPieces) {
    used_ = 0;
    keys_.clear();
    ids_.clear();
    return;
  }
  for (const Slot& slot : old) {
    if (slot.n_bytes != 0) {
      size_t i = slot.hash & (slots_.size() - 1);
      while (slots_[i].n_bytes != 0) {
        i = (i + 1) & (slots_.size() - 1);
      }
      slots_[i] = slot;
    }
  }
}

void PieceCache::encode(const BpeModel& model, std::string_view piece, std::vector<int32_t>& ids) {
  if (piece.size() > kLongestPiece) {
    model.encode(piece, ids);
    return;
  }
  const uint64_t hash = hash_of(piece);
  size_t i = hash & (slots_.size() - 1);
  for (; slots_[i].n_bytes != 0; i = (i + 1) & (slots_.size() - 1)) {
    const Slot& slot = slots_[i];
    if (slot.hash == hash && slot.n_bytes == piece.size() &&
        std::memcmp(keys_.data() + slot.key, piece.data(), piece.size()) == 0) {
      ids.insert(ids.end(), ids_.begin() + slot.ids, ids_.begin() + slot.ids + slot.n_ids);
      return;
    }
  }
  const size_t begin = ids.size();
  model.encode(piece, ids);
  slots_[i] = {hash, static_cast<uint32_t>(keys_.size()), static_cast<uint32_t>(piece.size()),
               static_cast<uint32_t>(ids_.size()), static_cast<uint32_t>(ids.size() - begin)};
  keys_.append(piece);
  ids_.insert(ids_.end(), ids.begin() + static_cast<int64_t>(begin), ids.end());
  if (++used_ * 2 > slots_.size()) {
    grow();
  }
}

}  // namespace gyre::model
