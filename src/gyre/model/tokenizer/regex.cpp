#include "gyre/model/tokenizer/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cstdint>

#include "gyre/base/error.h"

namespace gyre::model {
namespace {

// White_Space, which is \s in Oniguruma; PCRE2's own \s has U+180E as well.
constexpr std::string_view kSpaces =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f})"
    R"(\x{3000})";

std::string reason(int code) {
  PCRE2_UCHAR text[256];
  pcre2_get_error_message(code, text, sizeof(text));
  return reinterpret_cast<const char*>(text);
}

[[noreturn]] void refuse(std::string_view pattern, std::string_view what) {
  throw Error(Code::Format, "pattern '", pattern, "': ", what,
              " means something else in the library used here");
}

/// One escape outside or inside a class.
void translate_escape(std::string_view pattern, char letter, bool in_class, std::string& out) {
  if (letter == 's') {
    out += in_class ? std::string(kSpaces) : "[" + std::string(kSpaces) + "]";
  } else if (letter == 'S' && !in_class) {
    out += "[^" + std::string(kSpaces) + "]";
  } else if (std::string_view("hHRXSyYgkO").find(letter) != std::string_view::npos) {
    refuse(pattern, std::string("\\") + letter + (in_class ? " in a class" : ""));
  } else {
    out += {'\\', letter};
  }
}

bool repeats_of(std::string_view pattern, size_t close) {
  return close + 1 < pattern.size() && pattern[close] == '}' && pattern[close + 1] == '+';
}

}  // namespace

std::string translate_pattern(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  size_t class_begin = 0;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      if ((pattern[i + 1] == 'p' || pattern[i + 1] == 'P' || pattern[i + 1] == 'x') &&
          i + 2 < pattern.size() && pattern[i + 2] == '{') {
        const size_t close = std::min(pattern.find('}', i), pattern.size() - 1);
        out += pattern.substr(i, close - i + 1);
        i = close;
        continue;
      }
      translate_escape(pattern, pattern[++i], in_class, out);
      continue;
    }
    if (in_class) {
      if (c == '[' && pattern.substr(i, 2) != "[:") {
        refuse(pattern, "a class inside a class");
      }
      if (pattern.substr(i, 2) == "&&") {
        refuse(pattern, "&& in a class");
      }
      if (c == '[') {  // [:name:]
        const size_t close = std::min(pattern.find(":]", i), pattern.size() - 2);
        out += pattern.substr(i, close + 2 - i);
        i = close + 1;
        continue;
      }
      in_class = c != ']' || i == class_begin;
    } else if (c == '[') {
      in_class = true;
      class_begin = i + 1 + (pattern.substr(i + 1, 1) == "^" ? 1 : 0);
    } else if (repeats_of(pattern, i)) {
      refuse(pattern, "'}+'");
    }
    out += c;
  }
  return out;
}

std::string quote_pattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\^$.[]|()?*+{}-# ").find(c) != std::string_view::npos) {
      out += '\\';
    }
    out += c;
  }
  return out;
}

struct Regex::Code {
  pcre2_code* code = nullptr;
  bool jit = false;
  ~Code() { pcre2_code_free(code); }
};

Regex::Regex(std::string pattern) : pattern_(std::move(pattern)), code_(std::make_unique<Code>()) {
  const std::string ours = translate_pattern(pattern_);
  int error = 0;
  size_t place = 0;
  // Oniguruma's ^ and $ are those of lines.
  code_->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(ours.data()), ours.size(),
                              PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                              &error, &place, nullptr);
  if (code_->code == nullptr) {
    throw Error(gyre::Code::Format, "pattern '", pattern_, "': ", reason(error));
  }
  code_->jit = pcre2_jit_compile(code_->code, PCRE2_JIT_COMPLETE) == 0;
}

Regex::~Regex() = default;

struct Regex::Search::Parts {
  const Regex* regex = nullptr;
  pcre2_match_data* data = nullptr;
  pcre2_match_context* context = nullptr;
  ~Parts() {
    pcre2_match_data_free(data);
    pcre2_match_context_free(context);
  }
};

Regex::Search::Search(const Regex& regex) : parts_(std::make_unique<Parts>()) {
  parts_->regex = &regex;
  parts_->data = pcre2_match_data_create(1, nullptr);
  parts_->context = pcre2_match_context_create(nullptr);
  if (parts_->data == nullptr || parts_->context == nullptr) {
    throw std::bad_alloc();
  }
  pcre2_set_match_limit(parts_->context, UINT32_MAX);
}

Regex::Search::~Search() = default;

bool Regex::Search::next(std::string_view text, size_t begin, Span& span) {
  const Code& code = *parts_->regex->code_;
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int n = code.jit ? pcre2_jit_match(code.code, subject, text.size(), begin, 0, parts_->data,
                                     parts_->context)
                   : PCRE2_ERROR_JIT_STACKLIMIT;
  if (n == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its stack on the heap
    n = pcre2_match(code.code, subject, text.size(), begin, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT,
                    parts_->data, parts_->context);
  }
  if (n == PCRE2_ERROR_NOMATCH) {
    return false;
  }
  if (n < 0) {
    throw Error(gyre::Code::Format, "pattern '", parts_->regex->pattern_, "': ", reason(n));
  }
  const size_t* ends = pcre2_get_ovector_pointer(parts_->data);
  span = {ends[0], ends[1]};
  return true;
}

}  // namespace gyre::model
