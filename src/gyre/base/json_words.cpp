#include "gyre/base/json_words.h"

#include <algorithm>

#include "gyre/base/error.h"

namespace gyre {
namespace {

constexpr size_t kLongest = 160;
constexpr int kMaxDepth = 64;  // the deepest tokenizer.json seen has 8

bool cut_front(std::string_view& text, std::string_view front) {
  const bool found = text.starts_with(front);
  text.remove_prefix(found ? front.size() : 0);
  return found;
}

/// Without "syntax error while parsing value - ", whatever was parsed.
std::string without_syntax(std::string text) {
  const size_t begin = text.find("syntax error while parsing ");
  const size_t end = begin == std::string::npos ? begin : text.find(" - ", begin);
  return end == std::string::npos ? text : text.erase(begin, end + 3 - begin);
}

}  // namespace

std::string json_words(std::string_view what) {
  if (what.starts_with("[json.exception.")) {
    const size_t end = what.find("] ");
    what.remove_prefix(end == std::string_view::npos ? 0 : end + 2);
    if (!cut_front(what, "parse error at ")) {
      cut_front(what, "parse error: ");
    }
  }
  std::string out = without_syntax(std::string(what));
  const bool cut = out.size() > kLongest;
  out.resize(std::min(out.size(), kLongest));
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return out + (cut ? "..." : "");
}

void check_json_depth(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      i += c == '\\' ? 1 : 0;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxDepth) {
        throw Error(Code::Format, "nested deeper than ", kMaxDepth, " levels");
      }
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
}

std::string one_line(std::string text, size_t longest) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  if (text.size() <= longest) {
    return text;
  }
  size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80) {
    --end;
  }
  return text.substr(0, end) + "...";
}

}  // namespace gyre
