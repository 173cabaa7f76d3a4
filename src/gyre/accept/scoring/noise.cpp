// Answers that are no language: one span over and over, or letters and symbols without words.
#include <cctype>
#include <string_view>
#include <unordered_set>

#include "gyre/accept/scoring.h"

namespace gyre::accept {
namespace {

constexpr size_t kSpan = 24;         // bytes
constexpr size_t kLongestWord = 24;  // letters
constexpr double kNoise = 0.2;       // share of bytes

struct Noise {
  size_t bytes = 0, all = 0, ascii = 0, other = 0;

  double share() const {
    // Letters of another script among Latin ones are noise, a text in one script is not.
    const size_t foreign = ascii > 2 * other ? other : 0;
    return all > 0 ? double(bytes + foreign) / double(all) : 0.0;
  }
};

bool is_symbol(char c) {
  return std::string_view("#{}[]<>|\\^~@$%&*=+_`").find(c) != std::string_view::npos;
}

void count_run(std::string_view word, Noise& noise) {
  bool same = word.size() >= 4;
  for (const char c : word) {
    same = same && c == word[0];
  }
  if (same || word.size() > kLongestWord) {
    noise.bytes += word.size();
  }
}

void count_byte(std::string_view text, size_t i, Noise& noise) {
  const auto c = static_cast<unsigned char>(text[i]);
  const bool replaced = text.substr(i, 3) == "\uFFFD" ||
                        (i > 0 && text.substr(i - 1, 3) == "\uFFFD") ||
                        (i > 1 && text.substr(i - 2, 3) == "\uFFFD");
  if (replaced || is_symbol(text[i]) || c < 0x20 || c == 0x7f) {
    noise.bytes += c == '\n' || c == '\t' || c == '\r' ? 0 : 1;
  } else if (c >= 0x80) {
    ++noise.other;
  } else if (std::isalpha(c) != 0) {
    ++noise.ascii;
  }
}

}  // namespace

double repetition(const std::string& text) {
  if (text.size() < kSpan) {
    return 0.0;
  }
  std::unordered_set<std::string_view> seen;
  size_t again = 0;
  const size_t n = text.size() - kSpan + 1;
  for (size_t i = 0; i < n; ++i) {
    again += seen.insert(std::string_view(text).substr(i, kSpan)).second ? 0 : 1;
  }
  return double(again) / double(n);
}

bool is_gibberish(const std::string& text) {
  Noise noise;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || text[i] == ' ' || text[i] == '\n') {
      const auto word = std::string_view(text).substr(begin, i - begin);
      noise.all += word.size();
      count_run(word, noise);
      begin = i + 1;
    }
    if (i < text.size()) {
      count_byte(text, i, noise);
    }
  }
  return noise.share() > kNoise;
}

}  // namespace gyre::accept
