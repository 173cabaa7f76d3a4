// A CSV file (RFC 4180) beside each figure. Numbers are the shortest text that reads back to the
// same double, so they equal the ones in compare.json.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::report {

class Csv {
 public:
  Csv() = default;
  explicit Csv(std::vector<std::string> header) : header_(std::move(header)) {}

  /// Appends a row from strings, integers and doubles; unknown numbers (NaN) are empty cells.
  template <class... T>
  void row(const T&... cells) {
    rows_.push_back({cell(cells)...});
  }

  std::string text() const;
  const std::vector<std::string>& header() const { return header_; }
  const std::vector<std::vector<std::string>>& rows() const { return rows_; }

 private:
  static std::string cell(std::string_view text) { return std::string(text); }
  static std::string cell(int64_t value) { return std::to_string(value); }
  static std::string cell(double value);

  std::vector<std::string> header_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace gyre::report
