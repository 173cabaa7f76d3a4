// Words of the JSON library's own exceptions, so that a new version of it is noticed.
#include "gyre/base/json_words.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gyre/base/error.h"

namespace gyre {
namespace {

template <class Action>
std::string words_of(Action action) {
  try {
    (void)action();
  } catch (const nlohmann::json::exception& fault) {
    return json_words(fault);
  }
  return "";
}

TEST(JsonWords, GiveLineColumnAndReasonOfAParser) {
  EXPECT_EQ(words_of([] { return nlohmann::json::parse("{\"a\": 1,\n \"b\": nul}"); }),
            "line 2, column 10: invalid literal; last read: '\"b\": nul}'");
  const std::string empty = words_of([] { return nlohmann::json::parse(""); });
  EXPECT_TRUE(empty.starts_with("line 1, column 1: ")) << empty;
}

TEST(JsonWords, NameTheKeyOrTypeThatIsWrong) {
  const nlohmann::json json{{"a", 1}};
  EXPECT_EQ(words_of([&] { return json.at("step"); }), "key 'step' not found");
  EXPECT_EQ(words_of([&] { return json.at("a").get<std::string>(); }),
            "type must be string, but is number");
}

TEST(JsonWords, AreShortAndPrintable) {
  const std::string what = "[json.exception.other.1] \xff\n" + std::string(500, 'x');
  EXPECT_EQ(json_words(what), "??" + std::string(158, 'x') + "...");
  EXPECT_EQ(json_words("no such thing"), "no such thing");
}

TEST(OneLine, HasNoControlCharactersAndAnEnd) {
  EXPECT_EQ(one_line("a\nb\x1b[0m\x7f"), "a?b?[0m?");
  EXPECT_EQ(one_line("\xc3\xa4\xc3\xa4", 3), "\xc3\xa4...");
  EXPECT_EQ(one_line(std::string(1000, 'x')), std::string(1000, 'x'));
  EXPECT_EQ(one_line(std::string(1001, 'x')), std::string(1000, 'x') + "...");
}

TEST(JsonDepth, CountsBracketsOutsideStrings) {
  const auto fault = [](const std::string& text) {
    try {
      check_json_depth(text);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::Format);
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(fault(std::string(64, '[') + std::string(64, ']')), "");
  EXPECT_EQ(fault(std::string(65, '[')), "nested deeper than 64 levels");
  EXPECT_EQ(fault("[\"" + std::string(100, '[') + "\\\"" + std::string(100, '{') + "\"]"), "");
  EXPECT_EQ(fault("[]" + std::string(65, '{')), "nested deeper than 64 levels");
}

}  // namespace
}  // namespace gyre
