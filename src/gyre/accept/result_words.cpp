#include "gyre/accept/result_words.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.2f", value);
  return text;
}

/// Bytes of the UTF-8 character at `i`, 0 when there is none.
size_t utf8_length(const std::string& text, size_t i) {
  const auto byte = [&](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  const unsigned lead = byte(i), second = byte(i + 1);
  const size_t n = lead < 0x80   ? 1
                   : lead < 0xc2 ? 0
                   : lead < 0xe0 ? 2
                   : lead < 0xf0 ? 3
                   : lead < 0xf5 ? 4
                                 : 0;
  for (size_t k = 1; k < n; ++k) {
    if ((byte(i + k) & 0xc0U) != 0x80U) {
      return 0;
    }
  }
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second >= 0xa0;
  const bool too_high = lead == 0xf4 && second >= 0x90;
  // U+FFFE and U+FFFF are no characters, and XML forbids them.
  const bool none = lead == 0xef && second == 0xbf && byte(i + 2) >= 0xbe;
  return overlong || surrogate || too_high || none ? 0 : n;
}

}  // namespace

std::string joined(const std::vector<std::string>& parts, const std::string& between) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    out += (i == 0 ? "" : between) + parts[i];
  }
  return out;
}

std::string grouped(int64_t value) {
  std::string digits = std::to_string(std::abs(value));
  for (size_t i = digits.size(); i > 3; i -= 3) {
    digits.insert(i - 3, ",");
  }
  return (value < 0 ? "-" : "") + digits;
}

std::string level_title(int64_t level) {
  return level == 1 ? "length kept" : level == 2 ? "retrieval" : "composition";
}

std::string dials_text(const std::map<std::string, std::string>& dials) {
  std::string out;
  for (const auto& [name, value] : dials) {
    out += ", " + name + " " + value;
  }
  return out;
}

std::string share_text(double value, double lower, double upper) {
  if (!std::isfinite(value)) {
    return "-";
  }
  const bool bounds = std::isfinite(lower) && std::isfinite(upper);
  return two_digits(value) +
         (bounds ? " (" + two_digits(lower) + "-" + two_digits(upper) + ")" : "");
}

std::string cell_message(const Cell& cell) {
  if (cell.status == Status::NotRun) {
    return cell.why_not_run;
  }
  std::string out = str(cell.correct, " of ", cell.asked, " right (", cell.answered, " answered)");
  if (cell.worst >= 0 && cell.worst < static_cast<int64_t>(cell.buckets.size())) {
    const BucketResult& worst = cell.buckets[static_cast<size_t>(cell.worst)];
    const double share =
        worst.n > 0 ? static_cast<double>(worst.correct) / static_cast<double>(worst.n) : kUnknown;
    out += str(", worst bucket ", cell.worst + 1, " of ", cell.buckets.size(), ": ",
               share_text(share, worst.lower, worst.upper));
  }
  if (std::isfinite(cell.threshold)) {
    out += ", wanted " + two_digits(cell.threshold);
  }
  if (cell.needs_about > 0) {
    out += str(", needs about ", cell.needs_about, " more a bucket");
  }
  return out + (cell.says.empty() ? "" : "; " + cell.says);
}

namespace {

/// Characters of two and three bytes that a terminal obeys: C1 controls (U+009B starts a command)
/// and those that turn the direction of text.
bool is_obeyed(std::string_view character) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 2) {
    return (byte(0) == 0xC2 && byte(1) < 0xA0) || character == "\u061C";
  }
  if (character.size() != 3 || byte(0) != 0xE2) {
    return false;
  }
  const bool marks = byte(1) == 0x80 && (byte(2) == 0x8E || byte(2) == 0x8F);
  const bool turns = byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE;
  const bool isolates = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  return marks || turns || isolates;
}

}  // namespace

std::string clean_utf8(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const size_t n = utf8_length(text, i);
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    if (control || is_obeyed(std::string_view(text).substr(i, n))) {  // shown, not obeyed
      for (size_t k = 0; k < std::max<size_t>(n, 1); ++k) {
        char shown[8];
        std::snprintf(shown, sizeof shown, "\\x%02x", static_cast<unsigned char>(text[i + k]));
        out += shown;
      }
    } else {
      out += n == 0 ? "?" : text.substr(i, n);
    }
    i += std::max<size_t>(n, 1);
  }
  return out;
}

std::string one_line(const std::string& text, size_t most) {
  std::string out = clean_utf8(text.substr(0, most));
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    c = c == '\n' || c == '\t' || c == '\r' ? ' ' : byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return text.size() > most ? out + "..." : out;
}

std::string wrapped(const std::string& text, const std::string& indent, size_t width) {
  std::istringstream words(text);
  std::string out, line = indent;
  for (std::string word; words >> word;) {
    const bool first = line.size() == indent.size();
    if (!first && line.size() + 1 + word.size() > width) {
      out += line + "\n";
      line = indent + word;
    } else {
      line += (first ? "" : " ") + word;
    }
  }
  return line.size() == indent.size() ? out : out + line + "\n";
}

}  // namespace gyre::accept
