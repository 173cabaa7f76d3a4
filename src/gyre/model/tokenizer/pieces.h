// Cuts text into the pieces inside which BPE may merge: words with their leading space, runs of
// digits, of punctuation, of whitespace. The rule is GPT-2's, written by hand over bytes:
//   's|'t|'re|'ve|'m|'ll|'d | ?letters | ?digits | ?other | whitespace before the last | whitespace
// Letters are ASCII letters and every code point from U+00C0 that is no punctuation or symbol
// block.
#pragma once

#include <cstddef>
#include <string_view>

namespace gyre::model {

/// Longer pieces are cut, so that merging stays linear in the text's length.
constexpr size_t kMaxPieceBytes = 128;

/// Length in bytes of the piece that starts at `begin`; at least 1 while begin < text.size().
/// Any bytes are allowed; a byte that is no UTF-8 counts as punctuation.
size_t piece_length(std::string_view text, size_t begin);

}  // namespace gyre::model
