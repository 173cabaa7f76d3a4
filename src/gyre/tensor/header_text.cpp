#include "gyre/tensor/header_text.h"

#include <algorithm>
#include <cstdint>

namespace gyre::tensor {
namespace {

uint32_t byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

bool continues(std::string_view text, size_t i, uint32_t low, uint32_t high) {
  return i < text.size() && byte_at(text, i) >= low && byte_at(text, i) <= high;
}

/// Bytes of the well-formed sequence that starts at i; 0 = there is none.
size_t sequence(std::string_view text, size_t i) {
  const uint32_t lead = byte_at(text, i);
  if (lead < 0x80) {
    return 1;
  }
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) {
    return 0;
  }
  const uint32_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint32_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (!continues(text, i + 1, low, high)) {
    return 0;
  }
  for (size_t k = 2; k < length; ++k) {
    if (!continues(text, i + k, 0x80, 0xBF)) {
      return 0;
    }
  }
  return length;
}

bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const size_t length = sequence(text, i);
    if (length == 0) {
      return false;
    }
    i += length;
  }
  return true;
}

bool is_name(std::string_view text) {
  return std::none_of(text.begin(), text.end(), is_control) && is_utf8(text);
}

std::string printable(std::string_view text) {
  static constexpr size_t kLongest = 80;
  static constexpr char kDigits[] = "0123456789abcdef";
  const bool plain = is_name(text.substr(0, 4 * kLongest));
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool escape = is_control(c) || (byte >= 0x80 && !plain);
    if (out.size() >= kLongest && (byte & 0xC0U) != 0x80) {  // never within a character
      return out + "...";
    }
    if (escape) {
      out += {'\\', 'x', kDigits[byte >> 4U], kDigits[byte & 15U]};
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace gyre::tensor
