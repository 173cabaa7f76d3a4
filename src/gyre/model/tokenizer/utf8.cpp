#include "gyre/model/tokenizer/utf8.h"

#include <utf8proc.h>

#include <cstring>

namespace gyre::model {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

unsigned char byte_at(std::string_view text, size_t i) {
  return static_cast<unsigned char>(text[i]);
}

/// First and last value that the second byte may have after this first one (Unicode table 3-7).
struct SecondByte {
  unsigned char low = 0x80, high = 0xbf;
};

SecondByte second_byte(unsigned char first) {
  switch (first) {
    case 0xe0:
      return {0xa0, 0xbf};
    case 0xed:
      return {0x80, 0x9f};
    case 0xf0:
      return {0x90, 0xbf};
    case 0xf4:
      return {0x80, 0x8f};
    default:
      return {};
  }
}

/// Bytes of the well-formed beginning at `begin`; `whole` says whether it is a code point.
size_t well_formed(std::string_view text, size_t begin, bool& whole) {
  const unsigned char first = byte_at(text, begin);
  whole = first < 0x80;
  if (first < 0x80 || first < 0xc2 || first > 0xf4) {
    return 1;
  }
  const size_t wanted = code_point_bytes(text[begin]);
  const SecondByte second = second_byte(first);
  size_t n = 1;
  for (; n < wanted && begin + n < text.size(); ++n) {
    const unsigned char byte = byte_at(text, begin + n);
    if (n == 1 ? byte < second.low || byte > second.high : byte < 0x80 || byte > 0xbf) {
      break;
    }
  }
  whole = n == wanted;
  return n;
}

/// First place from `begin` that is not ASCII; eight bytes at a time.
size_t skip_ascii(std::string_view text, size_t begin) {
  size_t i = begin;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080ULL) != 0) {
      break;
    }
  }
  while (i < text.size() && byte_at(text, i) < 0x80) {
    ++i;
  }
  return i;
}

/// First place from `begin` where `text` is not well-formed, or its size.
size_t first_fault(std::string_view text, size_t begin) {
  bool whole = true;
  for (size_t i = skip_ascii(text, begin); i < text.size(); i = skip_ascii(text, i)) {
    const size_t n = well_formed(text, i, whole);
    if (!whole) {
      return i;
    }
    i += n;
  }
  return text.size();
}

utf8proc_category_t category(uint32_t value) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(value));
}

}  // namespace

CodePoint code_point(std::string_view text, size_t begin) {
  const unsigned char first = byte_at(text, begin);
  const size_t n = code_point_bytes(text[begin]);
  if (n == 1) {
    return {first, 1};
  }
  uint32_t value = first & (0xffU >> (n + 1));
  for (size_t i = 1; i < n; ++i) {
    value = (value << 6U) | (byte_at(text, begin + i) & 0x3fU);
  }
  return {value, n};
}

CodePoint code_point_before(std::string_view text, size_t end) {
  size_t begin = end - 1;
  while (begin > 0 && (byte_at(text, begin) & 0xc0U) == 0x80U) {
    --begin;
  }
  return code_point(text, begin);
}

void append_utf8(std::string& text, uint32_t value) {
  utf8proc_uint8_t bytes[4];
  const auto n = utf8proc_encode_char(static_cast<utf8proc_int32_t>(value), bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
}

std::string_view valid_utf8(std::string_view text, std::string& storage) {
  size_t fault = first_fault(text, 0);
  if (fault == text.size()) {
    return text;
  }
  storage.clear();
  bool whole = true;
  for (size_t done = 0; done < text.size();) {
    storage.append(text.substr(done, fault - done));
    done = fault;
    if (fault < text.size()) {
      storage.append(kReplacement);
      done += well_formed(text, fault, whole);
      fault = first_fault(text, done);
    }
  }
  return storage;
}

size_t complete_utf8(std::string_view text) {
  for (size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const size_t begin = text.size() - back;
    if ((byte_at(text, begin) & 0xc0U) == 0x80U) {
      continue;
    }
    bool whole = true;
    const size_t n = well_formed(text, begin, whole);
    return !whole && n == back && byte_at(text, begin) >= 0xc2 && byte_at(text, begin) <= 0xf4
               ? begin
               : text.size();
  }
  return text.size();
}

bool is_ascii(std::string_view text) {
  return skip_ascii(text, 0) == text.size();
}

bool is_white_space(uint32_t value) {
  return (value >= 9 && value <= 13) || value == ' ' || value == 0x85 || value == 0xa0 ||
         value == 0x1680 || (value >= 0x2000 && value <= 0x200a) || value == 0x2028 ||
         value == 0x2029 || value == 0x202f || value == 0x205f || value == 0x3000;
}

bool is_numeric(uint32_t value) {
  const utf8proc_category_t c = category(value);
  return c >= UTF8PROC_CATEGORY_ND && c <= UTF8PROC_CATEGORY_NO;
}

bool is_word(uint32_t value) {
  const utf8proc_category_t c = category(value);
  // Other_Alphabetic beyond marks: circled and squared Latin letters.
  const bool other_alphabetic =
      (value >= 0x24b6 && value <= 0x24e9) || (value >= 0x1f130 && value <= 0x1f149) ||
      (value >= 0x1f150 && value <= 0x1f169) || (value >= 0x1f170 && value <= 0x1f189);
  return (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_ME) || c == UTF8PROC_CATEGORY_ND ||
         c == UTF8PROC_CATEGORY_NL || c == UTF8PROC_CATEGORY_PC || value == 0x200c ||
         value == 0x200d || other_alphabetic;
}

bool is_punctuation(uint32_t value) {
  const utf8proc_category_t c = category(value);
  const bool ascii = value < 0x80 && value > ' ' && value != 0x7f;
  return (c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO) ||
         (ascii && c >= UTF8PROC_CATEGORY_SM && c <= UTF8PROC_CATEGORY_SO);
}

}  // namespace gyre::model
