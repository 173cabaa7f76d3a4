#include "gyre/data/utf8.h"

#include <cstdint>
#include <cstring>

namespace gyre::data {
namespace {

unsigned char byte_at(std::string_view text, size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

/// Bytes of the valid sequence at i, 0 when there is none. Table 3-7 of the Unicode Standard.
size_t sequence_at(std::string_view text, size_t i) {
  const unsigned char lead = byte_at(text, i);
  if (lead < 0x80) {
    return 1;
  }
  const size_t n = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) {
    return 0;
  }
  const unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  const unsigned char second = byte_at(text, i + 1);
  if (second < low || second > high) {
    return 0;
  }
  for (size_t k = 2; k < n; ++k) {
    if ((byte_at(text, i + k) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  return n;
}

}  // namespace

size_t invalid_utf8_at(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    uint64_t eight = 0;
    if (i + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + i, 8);
      if ((eight & 0x8080808080808080ULL) == 0) {  // eight ASCII bytes at once
        i += 8;
        continue;
      }
    }
    const size_t n = sequence_at(text, i);
    if (n == 0) {
      return i;
    }
    i += n;
  }
  return std::string_view::npos;
}

std::string latin1_to_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xc0U | (byte >> 6U));
      out += static_cast<char>(0x80U | (byte & 0x3fU));
    }
  }
  return out;
}

}  // namespace gyre::data
