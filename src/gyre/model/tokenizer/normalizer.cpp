#include "gyre/model/tokenizer/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

using Kind = NormalStep::Kind;

utf8proc_option_t form(Kind kind) {
  const int options =
      UTF8PROC_STABLE |
      (kind == Kind::Nfc || kind == Kind::Nfkc ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
      (kind == Kind::Nfkc || kind == Kind::Nfkd ? UTF8PROC_COMPAT : 0);
  return static_cast<utf8proc_option_t>(options);
}

/// Whether every code point lies under U+0300: nothing there composes, so it is NFC.
bool is_plain(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0xcc) {
      return false;
    }
  }
  return true;
}

/// Marks of Unicode 10 to 15. The peer's tables are those of Unicode 9, which leaves them where
/// they stand and composes nothing across them; models were trained on what it makes, so this does
/// too.
constexpr std::pair<uint32_t, uint32_t> kYoungMarks[] = {
    {0x7fd, 0x7fd},     {0x898, 0x89f},     {0x8ca, 0x8d3},     {0x9fe, 0x9fe},
    {0xc3c, 0xc3c},     {0xd3b, 0xd3c},     {0xeba, 0xeba},     {0x1715, 0x1715},
    {0x1abf, 0x1ace},   {0x1df6, 0x1dfa},   {0xa82c, 0xa82c},   {0x10d24, 0x10d27},
    {0x10eab, 0x10eac}, {0x10efd, 0x10eff}, {0x10f46, 0x10f50}, {0x10f82, 0x10f85},
    {0x11070, 0x11070}, {0x1133b, 0x1133b}, {0x1145e, 0x1145e}, {0x11839, 0x1183a},
    {0x11930, 0x11930}, {0x1193d, 0x1193e}, {0x11943, 0x11943}, {0x119e0, 0x119e0},
    {0x11a34, 0x11a34}, {0x11a47, 0x11a47}, {0x11a99, 0x11a99}, {0x11d42, 0x11d42},
    {0x11d44, 0x11d45}, {0x11d97, 0x11d97}, {0x11f41, 0x11f42}, {0x16ff0, 0x16ff1},
    {0x1e08f, 0x1e08f}, {0x1e130, 0x1e136}, {0x1e2ae, 0x1e2ae}, {0x1e2ec, 0x1e2ef},
    {0x1e4ec, 0x1e4ef}};

bool is_young_mark(uint32_t value) {
  const auto* range = std::lower_bound(
      std::begin(kYoungMarks), std::end(kYoungMarks), value,
      [](const std::pair<uint32_t, uint32_t>& one, uint32_t v) { return one.second < v; });
  return range != std::end(kYoungMarks) && value >= range->first;
}

std::string unicode_form_of_stretch(Kind kind, std::string_view text) {
  utf8proc_uint8_t* made = nullptr;
  const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                              static_cast<utf8proc_ssize_t>(text.size()), &made, form(kind));
  if (n < 0) {
    throw Error(Code::Internal, "normalizer: ", utf8proc_errmsg(n));
  }
  std::string out(reinterpret_cast<const char*>(made), static_cast<size_t>(n));
  std::free(made);
  return out;
}

std::string unicode_form(Kind kind, std::string_view text) {
  std::string out;
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    const CodePoint point = code_point(text, i);
    if (is_young_mark(point.value)) {
      out += unicode_form_of_stretch(kind, text.substr(begin, i - begin));
      out.append(text.substr(i, point.n_bytes));
      begin = i + point.n_bytes;
    }
    i += point.n_bytes;
  }
  return out + unicode_form_of_stretch(kind, text.substr(begin));
}

std::string replace_text(std::string_view text, const std::string& from, const std::string& to) {
  std::string out;
  size_t begin = 0;
  for (size_t at = text.find(from); at != std::string_view::npos; at = text.find(from, begin)) {
    out.append(text.substr(begin, at - begin)).append(to);
    begin = at + from.size();
  }
  return out.append(text.substr(begin));
}

std::string replace_pattern(std::string_view text, const Regex& pattern, const std::string& to) {
  std::string out;
  Regex::Search search(pattern);
  Regex::Span span;
  size_t begin = 0;
  while (begin <= text.size() && search.next(text, begin, span)) {
    out.append(text.substr(begin, span.begin - begin)).append(to);
    begin = span.end;
    if (span.begin == span.end) {  // an empty match: the next character stays
      if (begin == text.size()) {
        return out;
      }
      const size_t n = code_point_bytes(text[begin]);
      out.append(text.substr(begin, n));
      begin += n;
    }
  }
  return out.append(text.substr(begin));
}

std::string_view strip(std::string_view text, bool left, bool right) {
  while (left && !text.empty() && is_white_space(code_point(text, 0).value)) {
    text.remove_prefix(code_point_bytes(text[0]));
  }
  while (right && !text.empty()) {
    const CodePoint last = code_point_before(text, text.size());
    if (!is_white_space(last.value)) {
      break;
    }
    text.remove_suffix(last.n_bytes);
  }
  return text;
}

/// Whether `step` leaves `text` as it is, by a cheap test.
bool is_idle(const NormalStep& step, std::string_view text) {
  switch (step.kind) {
    case Kind::Nfc:
      return is_plain(text);
    case Kind::Replace:
      return step.pattern == nullptr && text.find(step.from) == std::string_view::npos;
    case Kind::Strip:
    case Kind::Prepend:
      return text.empty();
    default:
      return is_ascii(text);
  }
}

std::string apply(const NormalStep& step, std::string_view text) {
  switch (step.kind) {
    case Kind::Replace:
      return step.pattern != nullptr ? replace_pattern(text, *step.pattern, step.to)
                                     : replace_text(text, step.from, step.to);
    case Kind::Prepend:
      return step.to + std::string(text);
    case Kind::Strip:
      return std::string(strip(text, step.left, step.right));
    default:
      return unicode_form(step.kind, text);
  }
}

}  // namespace

std::string_view normalize(const std::vector<NormalStep>& steps, std::string_view text,
                           std::string& storage) {
  std::string_view now = text;
  for (const NormalStep& step : steps) {
    if (!is_idle(step, now)) {
      storage = apply(step, now);
      now = storage;
    }
  }
  return now;
}

}  // namespace gyre::model
