// UTF-8 and the few Unicode properties that tokenizers ask for. Text that is no UTF-8 is repaired
// the way Python's bytes.decode(errors="replace") does it, so that ids equal those of a peer which
// gets its text from there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::model {

/// A code point and the bytes it takes.
struct CodePoint {
  uint32_t value = 0;
  size_t n_bytes = 0;
};

/// The code point at `begin` of valid UTF-8.
CodePoint code_point(std::string_view text, size_t begin);
/// The code point that ends at `end` > 0 of valid UTF-8.
CodePoint code_point_before(std::string_view text, size_t end);
/// Bytes of the code point whose first byte is this one.
inline size_t code_point_bytes(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}
void append_utf8(std::string& text, uint32_t value);

/// `text` itself when it is valid; else a copy in `storage` with U+FFFD for each faulty stretch
/// (one per maximal subpart, Unicode 15.0 section 3.9, as Python does).
std::string_view valid_utf8(std::string_view text, std::string& storage);
/// Bytes of `text` up to the last whole code point: what may be shown while more is to come.
size_t complete_utf8(std::string_view text);

bool is_ascii(std::string_view text);
bool is_white_space(uint32_t value);  // property White_Space
bool is_numeric(uint32_t value);      // general category N
bool is_word(uint32_t value);  // \w of UTS 18: alphabetic, marks, decimal digits, Pc, joiners
bool is_punctuation(uint32_t value);  // general category P, or an ASCII symbol

}  // namespace gyre::model
