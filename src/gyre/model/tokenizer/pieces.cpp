#include "gyre/model/tokenizer/pieces.h"

#include <algorithm>
#include <array>

namespace gyre::model {
namespace {

enum class Class { Space, Letter, Digit, Other };

struct Character {
  Class cls;
  size_t bytes;
};

unsigned char byte_at(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

Class ascii_class(unsigned char c) {
  if (c == ' ' || (c >= '\t' && c <= '\r')) {
    return Class::Space;
  }
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
    return Class::Letter;
  }
  return c >= '0' && c <= '9' ? Class::Digit : Class::Other;
}

size_t sequence_bytes(unsigned char lead) {
  if (lead >= 0xc2 && lead <= 0xdf) {
    return 2;
  }
  if (lead >= 0xe0 && lead <= 0xef) {
    return 3;
  }
  return lead >= 0xf0 && lead <= 0xf4 ? 4 : 1;
}

/// Blocks of punctuation and symbols, by their first bytes: U+0080-00BF, U+2000-2BFF, U+3000-303F,
/// U+1F000-1FFFF.
bool is_symbol(unsigned char first, unsigned char second) {
  return first == 0xc2 || (first == 0xe2 && second <= 0xaf) || (first == 0xe3 && second == 0x80) ||
         (first == 0xf0 && second == 0x9f);
}

Character character_at(std::string_view text, size_t i) {
  const unsigned char lead = byte_at(text, i);
  if (lead < 0x80) {
    return {ascii_class(lead), 1};
  }
  const size_t n = sequence_bytes(lead);
  for (size_t k = 1; k < n; ++k) {
    if ((byte_at(text, i + k) & 0xc0U) != 0x80U) {
      return {Class::Other, 1};
    }
  }
  const bool other = n == 1 || is_symbol(lead, byte_at(text, i + 1));
  return {other ? Class::Other : Class::Letter, n};
}

size_t contraction_length(std::string_view rest) {
  static constexpr std::array<std::string_view, 7> kEndings = {"'s", "'t",  "'re", "'ve",
                                                               "'m", "'ll", "'d"};
  for (const std::string_view ending : kEndings) {
    if (rest.starts_with(ending)) {
      return ending.size();
    }
  }
  return 0;
}

/// End of the run of one class from `begin`, cut at kMaxPieceBytes after `start`.
size_t run_end(std::string_view text, size_t start, size_t begin, Class cls) {
  size_t end = begin;
  while (end < text.size()) {
    const Character c = character_at(text, end);
    if (c.cls != cls || end + c.bytes - start > kMaxPieceBytes) {
      break;
    }
    end += c.bytes;
  }
  return end;
}

}  // namespace

size_t piece_length(std::string_view text, size_t begin) {
  if (const size_t n = contraction_length(text.substr(begin)); n > 0) {
    return n;
  }
  const Character first = character_at(text, begin);
  if (first.cls != Class::Space) {
    return run_end(text, begin, begin, first.cls) - begin;
  }
  if (text[begin] == ' ' && begin + 1 < text.size()) {
    const Class next = character_at(text, begin + 1).cls;
    if (next != Class::Space) {
      return run_end(text, begin, begin + 1, next) - begin;
    }
  }
  const size_t end = run_end(text, begin, begin, Class::Space);
  const size_t length = end - begin;
  return end < text.size() && length > 1 ? length - 1 : length;
}

}  // namespace gyre::model
