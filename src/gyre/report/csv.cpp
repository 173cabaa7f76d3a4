#include "gyre/report/csv.h"

#include <charconv>
#include <cmath>

namespace gyre::report {
namespace {

std::string quoted(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) {
    return cell;
  }
  std::string out = "\"";
  for (const char c : cell) {
    out += c == '"' ? "\"\"" : std::string(1, c);
  }
  return out + "\"";
}

void append_line(std::string& out, const std::vector<std::string>& cells) {
  for (size_t i = 0; i < cells.size(); ++i) {
    out += (i == 0 ? "" : ",") + quoted(cells[i]);
  }
  out += "\r\n";
}

}  // namespace

std::string Csv::cell(double value) {
  if (std::isnan(value)) {
    return "";
  }
  if (std::isinf(value)) {
    return value > 0 ? "inf" : "-inf";
  }
  char buffer[40];
  const auto result = std::to_chars(buffer, buffer + sizeof buffer, value);
  return {buffer, result.ptr};
}

std::string Csv::text() const {
  std::string out;
  append_line(out, header_);
  for (const std::vector<std::string>& row : rows_) {
    append_line(out, row);
  }
  return out;
}

}  // namespace gyre::report
