// Text for the page: escaping, numbers as people read them, tables, evidence tags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/report/comparison.h"

namespace gyre::report {

/// Escapes & < > " ' so that the text is safe in an element and in a quoted attribute.
std::string escape(std::string_view text);

/// Escaped text inside <tag>...</tag>.
std::string element(std::string_view tag, std::string_view text);

/// Where a number comes from; every table and figure carries the tags of what is in it.
enum class Evidence { Measured, Analytic, Quoted };
const char* name_of(Evidence evidence);
std::string tag(Evidence evidence);
std::string tags(const std::vector<Evidence>& list);

/// Numbers for people: a true minus sign, an en dash where the value is unknown.
std::string fixed(double value, int digits);
std::string with_sign(double value, int digits);
std::string whole(int64_t value);        // 1234567 -> 1 234 567 with narrow spaces
std::string short_number(double value);  // three significant digits, no exponent below 1e6
std::string interval(const Interval& range, int digits);
std::string p_value(double value);
std::string duration(double seconds);
std::string percent(double share);

enum class Align { Left, Right };

/// An accessible table: title, column headers with scope, the first cell of a row a row header.
/// Cells are HTML already: escape text before adding it.
class Table {
 public:
  /// `id` is unique on the page; `title_html` is the visible text above, which names the table.
  Table(std::string id, std::string title_html)
      : id_(std::move(id)), title_(std::move(title_html)) {}
  void column(std::string title_html, Align align = Align::Left);
  void row(std::vector<std::string> cells_html, std::string_view row_class = "");
  /// Clicking a column's title sorts by it.
  void sortable() { sortable_ = true; }
  bool empty() const { return rows_.empty(); }
  std::string html() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string row_class;
  };
  std::string id_;
  std::string title_;
  std::vector<std::string> titles_;
  std::vector<Align> aligns_;
  std::vector<Row> rows_;
  bool sortable_ = false;
};

/// <ul> of escaped sentences.
std::string bullet_list(const std::vector<std::string>& sentences);

}  // namespace gyre::report
