// A regular expression over UTF-8 by PCRE2 with just-in-time code. Tokenizer files spell theirs for
// Oniguruma; the few things that mean something else there are translated or refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>

namespace gyre::model {

class Regex {
 public:
  /// Throws Error(Format) with the place and the library's reason.
  explicit Regex(std::string pattern);
  ~Regex();
  Regex(const Regex&) = delete;
  Regex& operator=(const Regex&) = delete;

  struct Span {
    size_t begin = 0, end = 0;
  };
  /// Room for one search at a time; make one per thread.
  class Search {
   public:
    explicit Search(const Regex& regex);
    ~Search();
    Search(const Search&) = delete;
    Search& operator=(const Search&) = delete;
    /// The first match from `begin` on; `text` must be valid UTF-8.
    bool next(std::string_view text, size_t begin, Span& span);

   private:
    struct Parts;
    std::unique_ptr<Parts> parts_;
  };

  const std::string& pattern() const { return pattern_; }

 private:
  struct Code;
  std::string pattern_;
  std::unique_ptr<Code> code_;
};

/// Text with the characters that a pattern treats specially made plain.
std::string quote_pattern(std::string_view text);
/// Oniguruma's spelling made PCRE2's; Error(Format) on what has no equal. Public for its test.
std::string translate_pattern(std::string_view pattern);

}  // namespace gyre::model
