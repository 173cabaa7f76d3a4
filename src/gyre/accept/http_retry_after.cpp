// When to come back: headers and words. Also how foreign words become one harmless line.
#include <time.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "gyre/accept/http_error.h"

namespace gyre::accept {

namespace {

constexpr double kMostWait = 1e6;  // seconds; beyond it nobody means it

/// A plain decimal number that takes the whole text; -1 = it is none.
double plain_number(const std::string& text) {
  if (text.empty() || text.size() > 20 ||
      text.find_first_not_of("0123456789.") != std::string::npos) {
    return -1;
  }
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  return *end == '\0' && std::isfinite(value) ? std::min(value, kMostWait) : -1;
}

/// "Sun, 06 Nov 1994 08:49:37 GMT", seconds since 1970; -1 = it is none.
int64_t http_date(const std::string& text) {
  constexpr std::array kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                               "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  int day = 0, year = 0, hour = 0, minute = 0, second = 0;
  char month[4] = "";
  if (std::sscanf(text.c_str(), "%*3[A-Za-z], %2d %3s %4d %2d:%2d:%2d", &day, month, &year, &hour,
                  &minute, &second) != 6) {
    return -1;
  }
  const auto found = std::find_if(kMonths.begin(), kMonths.end(),
                                  [&](const char* name) { return std::string(name) == month; });
  if (found == kMonths.end() || day < 1 || day > 31 || year < 1970 || hour < 0 || hour > 23 ||
      minute < 0 || minute > 59 || second < 0 || second > 60) {
    return -1;
  }
  tm parts{};
  parts.tm_mday = day;
  parts.tm_mon = static_cast<int>(found - kMonths.begin());
  parts.tm_year = year - 1900;
  parts.tm_hour = hour;
  parts.tm_min = minute;
  parts.tm_sec = second;
  return timegm(&parts);
}

/// "1m30.5s", "200ms", "20 seconds", "1 hour"; -1 = no number with a unit stands there.
double duration_at(const std::string& text, size_t at) {
  constexpr std::array<std::pair<const char*, double>, 4> kUnits{
      {{"ms", 1e-3}, {"m", 60}, {"h", 3600}, {"s", 1}}};
  double sum = -1;
  while (at < text.size()) {
    const size_t end = std::min(text.find_first_not_of("0123456789.", at), text.size());
    const double value = plain_number(text.substr(at, end - at));
    size_t unit = end + (end < text.size() && text[end] == ' ' ? 1 : 0);
    const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const auto& u) {
      return text.compare(unit, std::string(u.first).size(), u.first) == 0;
    });
    if (value < 0 || found == kUnits.end()) {
      break;
    }
    const bool milliseconds =
        found->first == std::string("ms") || text.compare(unit, 5, "milli") == 0;
    sum = std::max(sum, 0.0) + value * (milliseconds ? 1e-3 : found->second);
    while (unit < text.size() && std::isalpha(static_cast<unsigned char>(text[unit])) != 0) {
      ++unit;
    }
    at = unit;
  }
  return std::min(sum, kMostWait);
}

}  // namespace

double retry_after_s(const std::string& header, const std::string& milliseconds, int64_t now_unix) {
  if (const double ms = plain_number(milliseconds); ms >= 0) {
    return ms / 1e3;
  }
  if (const double seconds = plain_number(header); seconds >= 0) {
    return seconds;
  }
  const int64_t date = http_date(header.substr(0, 64));
  return date < 0 ? -1 : std::clamp(static_cast<double>(date - now_unix), 0.0, kMostWait);
}

double retry_after_in(std::string_view message) {
  std::string text(message.substr(0, 2000));
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const std::string before :
       {"try again in ", "retry in ", "retry after ", "again after ", "retry again in ", "wait "}) {
    for (size_t at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
      if (const double seconds = duration_at(text, at + before.size()); seconds >= 0) {
        return seconds;
      }
    }
  }
  return -1;
}

std::string one_line(std::string_view text) {
  constexpr size_t kMost = 500;
  std::string line;
  for (size_t i = 0; i < text.size() && line.size() < kMost;) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t size = c < 0x80                ? 1
                        : c >= 0xc2 && c < 0xe0 ? 2
                        : c >= 0xe0 && c < 0xf0 ? 3
                        : c >= 0xf0 && c < 0xf5 ? 4
                                                : 0;
    bool whole = size > 0 && i + size <= text.size();
    for (size_t k = 1; whole && k < size; ++k) {
      whole = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    }
    // Three-byte forms of surrogates and overlong ones are no UTF-8 either.
    const auto second = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    whole = whole && !(c == 0xe0 && second < 0xa0) && !(c == 0xed && second >= 0xa0) &&
            !(c == 0xf0 && second < 0x90) && !(c == 0xf4 && second >= 0x90);
    if (!whole) {
      line += '?';
      ++i;
    } else if (c <= 0x20 || c == 0x7f) {
      if (!line.empty() && line.back() != ' ') {
        line += ' ';
      }
      ++i;
    } else {
      line.append(text.substr(i, size));
      i += size;
    }
  }
  while (!line.empty() && line.back() == ' ') {
    line.pop_back();
  }
  return line;
}

}  // namespace gyre::accept
