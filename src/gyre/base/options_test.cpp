// Options structs: spec strings, JSON, lists, and what a user reads when a name or value is wrong.
#include "gyre/base/options.h"

#include <gtest/gtest.h>

#include "gyre/base/error.h"

namespace {
enum class Cut { Low, High };
}  // namespace

template <>
struct gyre::EnumNames<Cut> {
  static constexpr std::pair<Cut, const char*> list[] = {{Cut::Low, "low"}, {Cut::High, "high"}};
};

namespace gyre {
namespace {

struct Options {
  double base = 10000.0;
  int64_t length = 256;
  bool tied = true;
  std::string name = "tiny";
  Cut cut = Cut::Low;
  std::vector<std::string> arms = {"a", "b"};
  std::vector<int64_t> lengths;

  template <class V>
  void fields(V& v) {
    v("base", base, "base");
    v("length", length, "tokens");
    v("tied", tied, "tied");
    v("name", name, "name");
    v("cut", cut, "cut");
    v("arms", arms, "arms");
    v("lengths", lengths, "lengths");
  }
};

template <class Act>
std::string message_of(Act act) {
  try {
    act();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

std::string set_message(std::string_view spec) {
  Options options;
  return message_of([&] { set_from_spec(fields_of(options), "demo", spec); });
}

TEST(Options, SpecSetsEveryKind) {
  Options options;
  set_from_spec(fields_of(options), "demo",
                "base=5e5,length=2k,tied=false,name=x,cut=high,arms=[p,q],lengths=[1k,2]");
  EXPECT_EQ(options.base, 5e5);
  EXPECT_EQ(options.length, 2000);
  EXPECT_FALSE(options.tied);
  EXPECT_EQ(options.name, "x");
  EXPECT_EQ(options.cut, Cut::High);
  EXPECT_EQ(options.arms, (std::vector<std::string>{"p", "q"}));
  EXPECT_EQ(options.lengths, (std::vector<int64_t>{1000, 2}));
}

TEST(Options, UnknownKeyNamesTheNearest) {
  EXPECT_EQ(
      set_message("bas=1"),
      "demo: unknown option 'bas'; did you mean 'base'? known: base, length, tied, name, cut, "
      "arms, lengths");
  EXPECT_EQ(set_message("qqqqqq=1"),
            "demo: unknown option 'qqqqqq'; known: base, length, tied, name, cut, arms, lengths");
}

TEST(Options, BadValuesAreNamedWithKeyAndOwner) {
  EXPECT_EQ(set_message("base=x"), "demo: 'base' must be a number, got 'x'");
  EXPECT_EQ(set_message("base=nan"), "demo: 'base' must be a number, got 'nan'");
  EXPECT_EQ(set_message("base=inf"), "demo: 'base' must be a number, got 'inf'");
  EXPECT_EQ(set_message("base=1.5x"), "demo: 'base' must be a number, got '1.5x'");
  EXPECT_EQ(set_message("length=2.5"),
            "demo: 'length' must be a whole number (k, M and G allowed), got '2.5'");
  EXPECT_EQ(set_message("length=1e18"), "demo: 'length' must be below 9e15 in size, got '1e18'");
  EXPECT_EQ(set_message("tied=yes"), "demo: 'tied' must be true or false, got 'yes'");
  EXPECT_EQ(set_message("cut=hihg"),
            "demo: 'cut' must be one of low, high; got 'hihg'; did you mean 'high'?");
  EXPECT_EQ(set_message("base"), "demo: expected key=value, got 'base'");
}

TEST(Options, AKeyGivenTwiceIsAnError) {
  EXPECT_EQ(set_message("base=4,length=2,base=8"), "demo: 'base' is given twice; keep one");
  EXPECT_EQ(set_message("base=4,base=4"), "demo: 'base' is given twice; keep one");
}

TEST(Options, FailedSetLeavesTheValue) {
  Options options;
  EXPECT_THROW(set_field(fields_of(options), "demo", "base", "x"), Error);
  EXPECT_EQ(options.base, 10000.0);
}

TEST(Options, WholeNumbersTakeSuffixesAndExponents) {
  const std::pair<const char*, int64_t> cases[] = {
      {"0", 0},          {"-3", -3},
      {"2M", 2'000'000}, {"1.5M", 1'500'000},
      {"1e6", 1000000},  {"1.001k", 1001},
      {"4.35k", 4350},   {"1G", 1'000'000'000},
      {"64k", 64'000},   {"9007199254740993", 9007199254740993}};
  for (const auto& [text, expected] : cases) {
    int64_t value = -1;
    detail::parse(text, value);
    EXPECT_EQ(value, expected) << text;
  }
  for (const char* text :
       {"", "k", "1.0000001k", "1kk", "0x10", " 1", "1e30", "99999999999999999999"}) {
    int64_t value = -1;
    EXPECT_THROW(detail::parse(text, value), Error) << text;
  }
}

TEST(Options, RealsPrintAsTheShortestTextThatReadsBack) {
  EXPECT_EQ(detail::format(0.1), "0.1");
  EXPECT_EQ(detail::format(10000.0), "10000");
  for (const double value : {1.0 / 3.0, 1e-300, 6.02214076e23, 0.1 + 0.2}) {
    double back = 0;
    detail::parse(detail::format(value), back);
    EXPECT_EQ(back, value);
  }
}

TEST(Options, JsonRoundTripKeepsEveryValue) {
  Options options;
  options.base = 1.0 / 3.0;
  options.cut = Cut::High;
  options.name = "a \"quoted\" name, with a comma";
  options.arms = {"plain", "p:x=1,y=2", "[in brackets]", "", "say \"so\""};
  options.lengths = {256, -1};
  Options copy;
  fields_from_json(fields_of(copy), "demo", fields_to_json(fields_of(options)));
  EXPECT_EQ(copy.base, options.base);
  EXPECT_EQ(copy.cut, options.cut);
  EXPECT_EQ(copy.name, options.name);
  EXPECT_EQ(copy.arms, options.arms);
  EXPECT_EQ(copy.lengths, options.lengths);
}

TEST(Options, JsonHasTypesNotText) {
  Options options;
  EXPECT_EQ(fields_to_json(fields_of(options)),
            R"({"base":10000.0,"length":256,"tied":true,"name":"tiny","cut":"low",)"
            R"("arms":["a","b"],"lengths":[]})");
}

TEST(Options, TextThatIsNoUtf8DoesNotStopJson) {
  Options options;
  options.name = "caf\xe9";  // latin-1
  EXPECT_NE(fields_to_json(fields_of(options)).find("caf\xef\xbf\xbd"), std::string::npos);
}

TEST(Options, JsonFaultsAreNamed) {
  Options options;
  const Fields fields = fields_of(options);
  EXPECT_EQ(message_of([&] { fields_from_json(fields, "c.json", "[1]"); }),
            "c.json: expected a JSON object");
  EXPECT_EQ(message_of([&] { fields_from_json(fields, "c.json", "{"); }),
            "c.json: expected a JSON object");
  EXPECT_EQ(message_of([&] { fields_from_json(fields, "c.json", R"({"length": "ten"})"); }),
            "c.json: 'length' must be a whole number (k, M and G allowed), got 'ten'");
  EXPECT_EQ(
      message_of([&] { fields_from_json(fields, "c.json", R"({"lenght": 1})"); }).substr(0, 61),
      "c.json: unknown option 'lenght'; did you mean 'length'? known");
}

TEST(Options, ListsReadWithAndWithoutBracketsAndQuotes) {
  std::vector<std::string> items;
  detail::parse("a,[b,c],d", items);
  EXPECT_EQ(items, (std::vector<std::string>{"a", "[b,c]", "d"}));
  detail::parse(R"([x,"p:k=1,cut=high",y])", items);
  EXPECT_EQ(items, (std::vector<std::string>{"x", "p:k=1,cut=high", "y"}));
  detail::parse("", items);
  EXPECT_TRUE(items.empty());
}

TEST(Options, SummaryListsOnlyChanges) {
  Options options;
  Options defaults;
  EXPECT_EQ(fields_summary(fields_of(options), fields_of(defaults)), "");
  options.base = 5e5;
  options.cut = Cut::High;
  EXPECT_EQ(fields_summary(fields_of(options), fields_of(defaults)), "base=5e+05,cut=high");
}

TEST(Options, SummaryReadsBackAsASpec) {
  Options options;
  Options defaults;
  options.arms = {"p:x=1,y=2", "q"};
  Options copy;
  set_from_spec(fields_of(copy), "demo", fields_summary(fields_of(options), fields_of(defaults)));
  EXPECT_EQ(copy.arms, options.arms);
}

TEST(Options, NearestNameGivesUpOnStrangers) {
  const std::vector<std::string> known = {"compare", "train", "eval"};
  EXPECT_EQ(nearest_name("comapre", known), "compare");
  EXPECT_EQ(nearest_name("tran", known), "train");
  EXPECT_EQ(nearest_name("zzzzzzzzzz", known), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

}  // namespace
}  // namespace gyre
