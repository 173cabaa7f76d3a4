// Codes: drawn, and found again in whatever an answer makes of them. A code always holds a digit
// and a letter; by that "answer" or "234567" is no code even where case and dash are not asked for.
#include "gyre/accept/text/codes.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "gyre/accept/text/filler.h"

namespace gyre::accept {
namespace {

constexpr size_t kHalf = 3;

bool is_alnum(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0;
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

char symbol(char c) {
  const char upper = is_lower(c) ? char(c - 'a' + 'A') : c;
  return kCodeSymbols.find(upper) == std::string_view::npos ? '\0' : upper;
}

char draw(Rng& rng) {
  return kCodeSymbols[rng.below(kCodeSymbols.size())];
}

bool mixed(std::string_view text) {
  return std::any_of(text.begin(), text.end(), is_digit) &&
         std::any_of(text.begin(), text.end(), [](char c) { return is_alnum(c) && !is_digit(c); });
}

/// Three symbols at `at`, in capitals; empty if there are none.
std::string half(std::string_view text, size_t at) {
  std::string symbols;
  for (size_t i = at; i < text.size() && symbols.size() < kHalf && symbol(text[i]) != '\0'; ++i) {
    symbols += symbol(text[i]);
  }
  return symbols.size() == kHalf ? symbols : "";
}

/// Bytes of the dash at `at`: an ASCII one, escaped or not, with or without spaces, or a Unicode
/// one.
size_t dash(std::string_view text, size_t at) {
  static constexpr std::array<std::string_view, 13> kDashes = {
      " - ",    "\\-",    "-",      "_",      "\u2010", "\u2011", "\u2012",
      "\u2013", "\u2014", "\u2015", "\u2212", "\uFE63", "\uFF0D"};
  for (const auto form : kDashes) {
    if (text.substr(at, form.size()) == form) {
      return form.size();
    }
  }
  return 0;
}

/// Whether what stands at [begin, end) is no piece of a longer word.
bool stands_alone(std::string_view text, size_t begin, size_t end) {
  if (begin > 0 && is_alnum(text[begin - 1])) {
    return false;
  }
  if (end < text.size() && is_alnum(text[end])) {
    return false;
  }
  const size_t more = end < text.size() && text[end] == '-' ? 1 : 0;
  return more == 0 || end + more >= text.size() || !is_alnum(text[end + more]);
}

/// Whether symbols with this between their halves are meant as a code.
bool is_meant(std::string_view whole, std::string_view first, std::string_view second,
              std::string_view between) {
  const bool lower = std::any_of(whole.begin(), whole.end(), is_lower);
  if (between.empty()) {
    return mixed(whole);
  }
  if (between == " ") {
    return !lower && mixed(whole) && (mixed(first) || mixed(second));
  }
  return !lower || mixed(whole);
}

FoundCode code_at(std::string_view text, size_t at) {
  const std::string first = half(text, at);
  if (first.empty()) {
    return {};
  }
  size_t gap = dash(text, at + kHalf);
  if (gap == 0 && at + kHalf < text.size() && text[at + kHalf] == ' ') {
    gap = 1;
  }
  const std::string second = half(text, at + kHalf + gap);
  const size_t end = at + 2 * kHalf + gap;
  if (second.empty() || !stands_alone(text, at, end) ||
      !is_meant(text.substr(at, end - at), first, second, text.substr(at + kHalf, gap))) {
    return {};
  }
  return {first + "-" + second, at, end};
}

}  // namespace

std::string make_code(Rng& rng) {
  std::string code(2 * kHalf + 1, '-');
  do {
    for (size_t i = 0; i < code.size(); ++i) {
      code[i] = i == kHalf ? '-' : draw(rng);
    }
  } while (!mixed(code));
  return code;
}

std::string salt_line(uint64_t seed, std::string_view stream) {
  Rng rng(seed, stream);
  std::string text = "Document ";
  for (const int64_t n : {4, 4, 1}) {  // groups of four: a salt is no code
    text += text.back() == ' ' ? "" : "-";
    for (int64_t i = 0; i < n; ++i) {
      text += draw(rng);
    }
  }
  return text + ".";
}

std::vector<FoundCode> find_codes(std::string_view text) {
  std::vector<FoundCode> found;
  for (size_t at = 0; at + 2 * kHalf <= text.size();) {
    FoundCode code = code_at(text, at);
    at = code.code.empty() ? at + 1 : code.end;
    if (!code.code.empty()) {
      found.push_back(std::move(code));
    }
  }
  return found;
}

std::vector<std::string> codes_in(std::string_view text) {
  std::vector<std::string> codes;
  for (auto& found : find_codes(text)) {
    codes.push_back(std::move(found.code));
  }
  return codes;
}

std::string near_code(Rng& rng, const std::string& code) {
  while (true) {
    std::string other = code;
    const size_t at = size_t(rng.below(2 * kHalf));
    other[at < kHalf ? at : at + 1] = draw(rng);
    if (other != code && mixed(other)) {
      return other;
    }
  }
}

bool CodeSource::add(const std::string& code) {
  if (std::find(drawn_.begin(), drawn_.end(), code) != drawn_.end()) {
    return false;
  }
  drawn_.push_back(code);
  return true;
}

std::string CodeSource::next() {
  std::string code = make_code(rng_);
  while (!add(code)) {
    code = make_code(rng_);
  }
  return code;
}

std::string CodeSource::next_near(const std::string& code) {
  std::string near = near_code(rng_, code);
  while (!add(near)) {
    near = near_code(rng_, code);
  }
  return near;
}

}  // namespace gyre::accept
