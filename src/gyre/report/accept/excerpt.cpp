// A prompt in a few lines: its beginning, its end with the question, and the evidence between.
#include <algorithm>

#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

constexpr size_t kHead = 240, kTail = 480, kAround = 90;  // bytes

/// The nearest place at or after `at` where a word begins, if there is one close by.
size_t word_after(const std::string& text, size_t at) {
  constexpr size_t kWord = 24;
  const size_t space = text.find_first_of(" \n", at);
  return at > 0 && space != std::string::npos && space - at < kWord ? space + 1 : at;
}

struct Range {
  size_t begin = 0, end = 0;
};

bool inside_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

size_t back(const std::string& text, size_t at) {
  while (at > 0 && at < text.size() && inside_character(text[at])) {
    --at;
  }
  return std::min(at, text.size());
}

/// The end of a word about kAround bytes behind `from`.
size_t end_near(const std::string& text, size_t from) {
  const size_t at = back(text, std::min(from + kAround, text.size()));
  return at < text.size() ? word_after(text, at) : at;
}

/// Sorted, without overlaps; what lies closer than the words of a gap is joined.
std::vector<Range> joined(std::vector<Range> ranges, size_t gap) {
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& x, const Range& y) { return x.begin < y.begin; });
  std::vector<Range> out;
  for (const Range& range : ranges) {
    if (!out.empty() && range.begin <= out.back().end + gap) {
      out.back().end = std::max(out.back().end, range.end);
    } else {
      out.push_back(range);
    }
  }
  return out;
}

std::vector<Range> marks_of(const std::string& prompt, const std::vector<std::string>& evidence) {
  std::vector<Range> out;
  for (const std::string& sentence : evidence) {
    const size_t at = sentence.empty() ? std::string::npos : prompt.find(sentence);
    if (at != std::string::npos) {
      out.push_back({at, at + sentence.size()});
    }
  }
  return joined(std::move(out), 0);
}

std::string plain(const std::string& prompt, size_t begin, size_t end) {
  return escape(accept::clean_utf8(prompt.substr(begin, end - begin)));
}

std::string marked(const std::string& prompt, Range part, const std::vector<Range>& marks) {
  std::string out;
  size_t at = part.begin;
  for (const Range& mark : marks) {
    if (mark.begin >= at && mark.end <= part.end) {
      out += plain(prompt, at, mark.begin) + "<mark>" + plain(prompt, mark.begin, mark.end) +
             "</mark>";
      at = mark.end;
    }
  }
  return out + plain(prompt, at, part.end);
}

}  // namespace

std::string prompt_excerpt(const std::string& prompt, const std::vector<std::string>& evidence) {
  const std::vector<Range> marks = marks_of(prompt, evidence);
  const size_t tail = back(prompt, prompt.size() - std::min(kTail, prompt.size()));
  std::vector<Range> parts{{0, end_near(prompt, kHead - kAround)},
                           {word_after(prompt, tail), prompt.size()}};
  for (const Range& mark : marks) {
    const size_t begin = back(prompt, mark.begin - std::min(kAround, mark.begin));
    parts.push_back({std::min(word_after(prompt, begin), mark.begin), end_near(prompt, mark.end)});
  }
  std::string out;
  size_t at = 0;
  for (const Range& part : joined(std::move(parts), kAround)) {
    if (part.begin > at) {
      out += str("<span class=\"cut\">\u2026 ", whole(static_cast<int64_t>(part.begin - at)),
                 " bytes \u2026</span>");
    }
    out += marked(prompt, part, marks);
    at = part.end;
  }
  return "<pre class=\"prompt\">" + out + "</pre>\n";
}

}  // namespace gyre::report
