#include "gyre/report/html.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace gyre::report {
namespace {

constexpr const char* kMinus = "\u2212";
constexpr const char* kNone = "\u2013";
constexpr const char* kThinSpace = "\u202f";

std::string print(const char* format, int digits, double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, format, digits, value);
  return buffer;
}

// "-0.0000" has a sign that means nothing.
bool prints_as_zero(const std::string& digits) {
  return digits.find_first_not_of("-0.") == std::string::npos;
}

}  // namespace

std::string escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string element(std::string_view name, std::string_view text) {
  const std::string open(name);
  return "<" + open + ">" + escape(text) + "</" + open + ">";
}

const char* name_of(Evidence evidence) {
  switch (evidence) {
    case Evidence::Measured:
      return "measured";
    case Evidence::Analytic:
      return "analytic";
    case Evidence::Quoted:
      break;
  }
  return "quoted";
}

std::string tag(Evidence evidence) {
  const std::string name = name_of(evidence);
  return "<span class=\"tag " + name + "\">" + name + "</span>";
}

std::string tags(const std::vector<Evidence>& list) {
  std::string out;
  for (const Evidence evidence : list) {
    out += (out.empty() ? "" : " ") + tag(evidence);
  }
  return out;
}

std::string fixed(double value, int digits) {
  if (std::isnan(value)) {
    return kNone;
  }
  if (std::isinf(value)) {
    return value > 0 ? "\u221e" : std::string(kMinus) + "\u221e";
  }
  const std::string text = print("%.*f", digits, value);
  if (prints_as_zero(text)) {
    return print("%.*f", digits, 0.0);
  }
  return value < 0 ? kMinus + text.substr(1) : text;
}

std::string with_sign(double value, int digits) {
  const std::string text = fixed(value, digits);
  return value > 0 && !prints_as_zero(text) ? "+" + text : text;
}

std::string whole(int64_t value) {
  std::string digits = std::to_string(std::llabs(value));
  for (size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, kThinSpace);
  }
  return value < 0 ? kMinus + digits : digits;
}

std::string short_number(double value) {
  if (!std::isfinite(value)) {
    return fixed(value, 0);
  }
  if (std::abs(value) >= 1000 && std::abs(value) < 1e15) {
    return whole(std::llround(value));
  }
  const std::string text = print("%.*g", 3, value);
  return value < 0 ? kMinus + text.substr(1) : text;
}

std::string interval(const Interval& range, int digits) {
  if (std::isnan(range.lo) || std::isnan(range.hi)) {
    return kNone;
  }
  return "[" + with_sign(range.lo, digits) + ", " + with_sign(range.hi, digits) + "]";
}

std::string p_value(double value) {
  if (std::isnan(value)) {
    return kNone;
  }
  return value < 0.001 ? "&lt; 0.001" : fixed(value, value < 0.1 ? 3 : 2);
}

std::string duration(double seconds) {
  if (std::isnan(seconds)) {
    return kNone;
  }
  const int64_t total = std::llround(seconds);
  const int64_t hours = total / 3600;
  const int64_t minutes = total / 60 % 60;
  if (hours > 0) {
    return std::to_string(hours) + " h " + std::to_string(minutes) + " min";
  }
  return (minutes > 0 ? std::to_string(minutes) + " min " : "") + std::to_string(total % 60) + " s";
}

std::string percent(double share) {
  return std::isnan(share) ? kNone : fixed(100 * share, 1) + " %";
}

void Table::column(std::string title_html, Align align) {
  titles_.push_back(std::move(title_html));
  aligns_.push_back(align);
}

void Table::row(std::vector<std::string> cells_html, std::string_view row_class) {
  rows_.push_back({std::move(cells_html), std::string(row_class)});
}

std::string Table::html() const {
  const auto align = [this](size_t i) {
    return std::string(aligns_.at(i) == Align::Right ? " class=\"num\"" : "");
  };
  // The title stays outside the box that scrolls sideways on a phone.
  const std::string label = " aria-labelledby=\"table-" + id_ + "\"";
  std::string out = "<p class=\"table-title\" id=\"table-" + id_ + "\">" + title_ + "</p>\n";
  out += "<div class=\"table-wrap\" tabindex=\"0\" role=\"group\"" + label + "><table" + label +
         (sortable_ ? " class=\"sortable\"" : "") + ">\n<thead><tr>";
  for (size_t i = 0; i < titles_.size(); ++i) {
    out += "<th scope=\"col\"" + align(i) + ">" + titles_[i] + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const Row& row : rows_) {
    out += row.row_class.empty() ? "<tr>" : "<tr class=\"" + row.row_class + "\">";
    for (size_t i = 0; i < row.cells.size(); ++i) {
      const std::string cell = align(i) + ">" + row.cells[i];
      out += i == 0 ? "<th scope=\"row\"" + cell + "</th>" : "<td" + cell + "</td>";
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string bullet_list(const std::vector<std::string>& sentences) {
  std::string out = "<ul>\n";
  for (const std::string& sentence : sentences) {
    out += "<li>" + escape(sentence) + "</li>\n";
  }
  return out + "</ul>\n";
}

}  // namespace gyre::report
