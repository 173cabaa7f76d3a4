// BPE over a given vocabulary: a piece becomes symbols (bytes or characters), merges join them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gyre/model/tokenizer/merges.h"

namespace gyre::model {

/// What a model is made of. Symbols are ids; those from `n_ids` on are characters that no token
/// is, yet that tokens are merged from: they leave as their bytes.
struct BpeParts {
  std::vector<std::string> texts;  // symbol -> what it matches in a piece; empty = nothing
  size_t n_ids = 0;
  std::vector<MergeRule> rules;
  std::array<int32_t, 256>
      byte_ids{};              // with `bytes`: symbol of each byte; else its fallback token
  bool bytes = false;          // symbols are bytes, not characters
  bool byte_fallback = false;  // a character without a token becomes byte tokens
  bool whole_first = false;    // a piece that is a token is that token (ignore_merges)
  bool fuse_unknown = false;
  int32_t unknown = -1;    // -1 = what is unknown is dropped
  bool separates = false;  // and nothing is merged across the place it had
};

class BpeModel {
 public:
  BpeModel() = default;
  explicit BpeModel(BpeParts parts);

  /// Appends the ids of one piece.
  void encode(std::string_view piece, std::vector<int32_t>& ids) const;

  /// End of the stretch from `begin` on which nothing is merged with what follows: between two
  /// characters that no rule joins. Cutting there changes no id, and short stretches repeat.
  size_t stretch_end(std::string_view piece, size_t begin) const;
  bool cuts() const { return cuts_; }

 private:
  int32_t symbol_of(std::string_view character) const;
  void unknown_character(std::string_view character, std::vector<int32_t>& symbols,
                         bool& pending) const;
  bool learn_joints(const BpeParts& parts);
  bool knows_all() const;
  bool joins(uint32_t left, uint32_t right) const;

  std::unordered_map<std::string, int32_t> symbols_;
  std::array<int32_t, 128> ascii_{};
  std::vector<std::string> extra_;  // texts of the symbols from n_ids_ on
  size_t n_ids_ = 0;
  MergeRules rules_;
  std::array<int32_t, 256> byte_ids_{};
  bool bytes_ = false, byte_fallback_ = false, whole_first_ = false, fuse_unknown_ = false,
       separates_ = false;
  int32_t unknown_ = -1;
  bool cuts_ = false;
  std::vector<bool> ascii_joints_;  // 128 x 128
  std::vector<uint64_t> joints_;    // open addressing; 0 = free
};

/// Ids of pieces met before, for one encoding. Words repeat, so most pieces are found here.
class PieceCache {
 public:
  PieceCache();
  /// The ids of `piece`, from here or made by `model`, are appended to `ids`.
  void encode(const BpeModel& model, std::string_view piece, std::vector<int32_t>& ids);

 private:
  struct Slot {
    uint64_t hash = 0;
    uint32_t key = 0, n_bytes = 0;  // in keys_; n_bytes 0 = free
    uint32_t ids = 0, n_ids = 0;    // in ids_
  };
  void grow();

  std::vector<Slot> slots_;
  size_t used_ = 0;
  std::string keys_;
  std::vector<int32_t> ids_;
};

}  // namespace gyre::model
