// Escaping and numbers for people; expected texts by hand.
#include "gyre/report/html.h"

#include <gtest/gtest.h>

#include <limits>

#include "gyre/report/csv.h"

namespace gyre::report {
namespace {

TEST(Html, EscapesTheFiveCharactersAndNothingElse) {
  EXPECT_EQ(escape("<a href=\"x\">'&amp;'</a> \u00d7"),
            "&lt;a href=&quot;x&quot;&gt;&#39;&amp;amp;&#39;&lt;/a&gt; \u00d7");
}

TEST(Html, NumbersHaveATrueMinusAndNoSignedZero) {
  EXPECT_EQ(fixed(-0.01714, 4), "\u22120.0171");
  EXPECT_EQ(fixed(-0.00001, 4), "0.0000");
  EXPECT_EQ(with_sign(0.00001, 4), "0.0000");
  EXPECT_EQ(with_sign(0.292, 4), "+0.2920");
  EXPECT_EQ(fixed(kUnknown, 4), "\u2013");
  EXPECT_EQ(fixed(std::numeric_limits<double>::infinity(), 1), "\u221e");
}

TEST(Html, WholeNumbersAreGroupedByThousands) {
  EXPECT_EQ(whole(724), "724");
  EXPECT_EQ(whole(724352), "724\u202f352");
  EXPECT_EQ(whole(-1234567), "\u22121\u202f234\u202f567");
}

TEST(Html, IntervalsAndPValues) {
  EXPECT_EQ(interval({-0.5, 0.25}, 2), "[\u22120.50, +0.25]");
  EXPECT_EQ(interval({}, 2), "\u2013");
  EXPECT_EQ(p_value(0.00004), "&lt; 0.001");
  EXPECT_EQ(p_value(0.0412), "0.041");
  EXPECT_EQ(p_value(0.412), "0.41");
  EXPECT_EQ(duration(331), "5 min 31 s");
  EXPECT_EQ(duration(7260), "2 h 1 min");
}

TEST(Html, TableCellsCarryScopes) {
  Table table("t", "Title");
  table.column("A");
  table.column("B", Align::Right);
  table.row({"x", "1"});
  const std::string html = table.html();
  EXPECT_NE(html.find("<th scope=\"col\">A</th><th scope=\"col\" class=\"num\">B</th>"),
            std::string::npos);
  EXPECT_NE(html.find("<th scope=\"row\">x</th><td class=\"num\">1</td>"), std::string::npos);
  EXPECT_NE(html.find("id=\"table-t\">Title"), std::string::npos);
}

TEST(Csv, QuotesAsRfc4180AndKeepsEveryDigit) {
  Csv csv({"name", "value"});
  csv.row("a,b \"c\"", 0.1 + 0.2);
  csv.row("plain", kUnknown);
  csv.row("whole", int64_t{-7});
  EXPECT_EQ(csv.text(),
            "name,value\r\n\"a,b \"\"c\"\"\",0.30000000000000004\r\nplain,\r\nwhole,-7\r\n");
}

}  // namespace
}  // namespace gyre::report
