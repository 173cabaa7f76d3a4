// The parts of the pipeline against slow twins: merging, UTF-8 repair, cutting, added tokens.
#include "gyre/base/rng.h"
#include "gyre/model/tokenizer/added_tokens.h"
#include "gyre/model/tokenizer/byte_level.h"
#include "gyre/model/tokenizer/merges.h"
#include "gyre/model/tokenizer/regex.h"
#include "gyre/model/tokenizer/tokenizer_testing.h"
#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

/// The definition: the lowest rank of all neighbours, leftmost first, one merge at a time.
std::vector<int32_t> slow_merge(std::vector<int32_t> symbols, const std::vector<MergeRule>& rules) {
  while (true) {
    const MergeRule* best = nullptr;
    size_t at = 0;
    for (size_t i = 0; i + 1 < symbols.size(); ++i) {
      for (const MergeRule& rule : rules) {
        if (rule.left == symbols[i] && rule.right == symbols[i + 1] &&
            (best == nullptr || rule.rank < best->rank)) {
          best = &rule;
          at = i;
        }
      }
    }
    if (best == nullptr) {
      return symbols;
    }
    symbols[at] = best->result;
    symbols.erase(symbols.begin() + static_cast<int64_t>(at) + 1);
  }
}

TEST(MergeRules, MergeAsTheDefinitionShortAndLong) {
  Rng rng(5, "merge rules");
  for (int round = 0; round < 60; ++round) {
    std::vector<MergeRule> rules;
    for (int32_t r = 0; r < 25; ++r) {  // no pair twice; ranks tie now and then
      const auto left = static_cast<int32_t>(rng.below(8));
      if (std::none_of(rules.begin(), rules.end(), [&](const MergeRule& one) {
            return one.left == left && one.right == r % 9;
          })) {
        rules.push_back({left, r % 9, r / 2, static_cast<int32_t>(rng.below(12))});
      }
    }
    const MergeRules fast(rules);
    for (const size_t n : {0U, 1U, 2U, 7U, 48U, 49U, 130U}) {
      std::vector<int32_t> symbols;
      for (size_t i = 0; i < n; ++i) {
        symbols.push_back(static_cast<int32_t>(rng.below(6)));
      }
      const std::vector<int32_t> expected = slow_merge(symbols, rules);
      fast.apply(symbols);
      ASSERT_EQ(symbols, expected) << "round " << round << ", " << n << " symbols";
    }
  }
}

// A text without spaces is one piece: 200,000 bytes would take minutes if cost grew with n^2.
TEST(MergeRules, LongPiecesStayNearLinear) {
  const auto t = load_tokenizer(tokenizer_testdata() / "llama3.json");
  const std::string text(200000, 'a');
  EXPECT_EQ(t->decode(t->encode(text)), text);
}

// Expected: bytes.decode("utf-8", "replace") of Python 3.11.
TEST(Utf8, RepairsAsPythonDoes) {
  const std::string r = "\xef\xbf\xbd";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"plain \xc3\xa9", "plain \xc3\xa9"},
      {"\xff", r},
      {"a\xc3", "a" + r},
      {"\xe2\x82z", r + "z"},
      {"\xf0\x9f\x98", r},
      {"\xed\xa0\x80", r + r + r},
      {"\xc0\xaf", r + r},
      {"\xf4\x90\x80\x80", r + r + r + r},
      {"\xe2\x28\xa1", r + "(" + r},
      {"\x80\xf0\x80", r + r + r}};
  for (const auto& [bytes, expected] : cases) {
    std::string storage;
    EXPECT_EQ(valid_utf8(bytes, storage), expected) << shown(bytes);
  }
}

TEST(Utf8, HoldsBackWhatIsNotWhole) {
  EXPECT_EQ(complete_utf8("ab"), 2U);
  EXPECT_EQ(complete_utf8("a\xf0\x9f\x98"), 1U);
  EXPECT_EQ(complete_utf8("a\xf0\x9f\x98\x80"), 5U);
  EXPECT_EQ(complete_utf8("a\xff"), 2U);  // nothing that follows can make it whole
  EXPECT_EQ(complete_utf8("\xe2"), 0U);
  EXPECT_EQ(complete_utf8(""), 0U);
}

TEST(ByteLevel, HasACharacterForEachByteAndKnowsItsOwn) {
  std::string bytes;
  for (int b = 0; b < 256; ++b) {
    bytes += static_cast<char>(b);
  }
  EXPECT_EQ(bytes_of_level(level_of_bytes(bytes)), bytes);
  EXPECT_EQ(level_of_bytes(" a\n"),
            "\xc4\xa0"
            "a\xc4\x8a");  // GPT-2's Ġ and Ċ
  EXPECT_FALSE(bytes_of_level("a b").has_value());
  EXPECT_FALSE(bytes_of_level("\xe2\x96\x81").has_value());
}

std::vector<std::string> texts(const AddedTokens& tokens, const std::string& text, bool specials) {
  std::vector<std::string> out;
  for (const Stretch& one : tokens.cut(text, specials)) {
    out.push_back(str(one.id < 0 ? "" : "#", text.substr(one.begin, one.end - one.begin)));
  }
  return out;
}

TEST(AddedTokens, TheLongestAtAPlaceWins) {
  const AddedTokens tokens({{1, "<a>", true}, {2, "<a><b>", false}, {3, "x", false}});
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts(tokens, "1<a><b>2<a>3", true), (Texts{"1", "#<a><b>", "2", "#<a>", "3"}));
  EXPECT_EQ(texts(tokens, "<a>x", false), (Texts{"<a>", "#x"}));
  EXPECT_EQ(texts(tokens, "<a><", true), (Texts{"#<a>", "<"}));
  EXPECT_EQ(texts(AddedTokens(), "abc", true), (Texts{"abc"}));
  EXPECT_TRUE(texts(tokens, "", true).empty());
}

TEST(AddedTokens, TakeSpaceAlongAndHeedWords) {
  AddedToken left{1, "L"};
  left.lstrip = true;
  AddedToken right{2, "R"};
  right.rstrip = true;
  AddedToken word{3, "w"};
  word.single_word = true;
  const AddedTokens tokens({left, right, word});
  using Texts = std::vector<std::string>;
  EXPECT_EQ(texts(tokens, "a \n L b", true), (Texts{"a", "# \n L", " b"}));
  EXPECT_EQ(texts(tokens, "aR \xe3\x80\x80z", true), (Texts{"a", "#R \xe3\x80\x80", "z"}));
  EXPECT_EQ(texts(tokens, "w ww \xc3\xa9w w", true), (Texts{"#w", " ww \xc3\xa9w ", "#w"}));
}

// \s is White_Space in Oniguruma; U+180E is none, U+0085 is.
TEST(Regex, MeansByWhiteSpaceWhatThePeerMeans) {
  const Regex regex(R"(\s+)");
  Regex::Search search(regex);
  Regex::Span span;
  EXPECT_FALSE(search.next("\xe1\xa0\x8e", 0, span));
  ASSERT_TRUE(search.next("a\xc2\x85\xe3\x80\x80z", 0, span));
  EXPECT_EQ(span.begin, 1U);
  EXPECT_EQ(span.end, 6U);
}

TEST(Regex, RefusesWhatMeansSomethingElse) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"[a[b]]", "a class inside a class"},
      {"[a&&b]", "&& in a class"},
      {"\\h+", "\\h"},
      {"[\\S]", "\\S in a class"},
      {"a{1,2}+", "'}+'"}};
  for (const auto& [pattern, what] : cases) {
    try {
      translate_pattern(pattern);
      ADD_FAILURE() << "accepted " << pattern;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()), str("pattern '", pattern, "': ", what,
                                               " means something else in the library used here"));
    }
  }
}

TEST(Regex, LongRunsNeedNoStack) {
  const Regex regex(R"([^\r\n\p{L}\p{N}]?\p{L}+|\s*[\r\n]+|\s+(?!\S)|\s+)");
  Regex::Search search(regex);
  Regex::Span span;
  const std::string spaces(1000000, ' ');
  ASSERT_TRUE(search.next(spaces, 0, span));
  EXPECT_EQ(span.end, spaces.size());
}

}  // namespace
}  // namespace gyre::model
