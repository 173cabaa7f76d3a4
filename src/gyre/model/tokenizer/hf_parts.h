// The steps of a tokenizer.json, read from its JSON: what each file of hf_*.cpp gives the next.
// Only .cpp files and this header's users know the JSON; it is passed as text.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "gyre/model/tokenizer/normalizer.h"
#include "gyre/model/tokenizer/pre_tokenizer.h"

namespace gyre::model {

/// The regular expression of GPT-2's encoder.py.
inline constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

struct PreTokenizerPart {
  std::vector<SplitStep> steps;
  bool byte_level = false;  // the pieces are then taken as bytes
};

/// How one token becomes text.
struct DecoderPart {
  bool byte_level = false;
  bool byte_fallback = false;                                     // "<0x0A>" is a byte
  std::vector<std::pair<std::string, std::string>> replacements;  // in each token
  size_t strip_spaces = 0;                                        // at the front of the whole text
};

/// Each takes the JSON of its section ("null" for none); Error(Format) names a type it cannot do.
std::vector<NormalStep> read_normalizer(const std::string& json);
PreTokenizerPart read_pre_tokenizer(const std::string& json);
DecoderPart read_decoder(const std::string& json);

/// The byte that a token such as "<0x0A>" stands for.
std::optional<int> fallback_byte(std::string_view token);
/// Bytes of one token in the middle of a text.
std::string decoded_piece(const DecoderPart& decoder, const std::string& token);

}  // namespace gyre::model
