// Codes: drawn, changed by a symbol, and read back in the forms in which models write them.
#include "gyre/accept/text/codes.h"

#include <gtest/gtest.h>

#include <set>

#include "gyre/accept/text/filler.h"

namespace gyre::accept {
namespace {

using Codes = std::vector<std::string>;

TEST(Codes, HaveSixSymbolsWithADigitAndALetter) {
  Rng rng(1, "codes");
  std::set<std::string> codes;
  for (int i = 0; i < 2000; ++i) {
    const std::string code = make_code(rng);
    ASSERT_EQ(code.size(), 7u);
    ASSERT_EQ(code[3], '-');
    ASSERT_EQ(codes_in(code), Codes{code});
    ASSERT_NE(code.find_first_of("23456789"), std::string::npos);
    ASSERT_NE(code.find_first_not_of("23456789-"), std::string::npos);
    codes.insert(code);
  }
  EXPECT_EQ(codes.size(), 2000u);
}

TEST(Codes, AreReadInManyForms) {
  for (const char* text : {"KX7-3QD",
                           "kx7-3qd",
                           "KX73QD",
                           "kx73qd",
                           "KX7 3QD",
                           "KX7 - 3QD",
                           "KX7\u20113QD",
                           "KX7\u20133QD",
                           "KX7\u20143QD",
                           "KX7\u22123QD",
                           "KX7_3QD",
                           "KX7\\-3QD",
                           "**KX7-3QD**",
                           "`KX7-3QD`",
                           "\"KX7-3QD\"",
                           "(KX7-3QD).",
                           "The code is KX7-3QD.",
                           "{\"code\":\"KX7-3QD\"}",
                           "code=KX7-3QD",
                           "-KX7-3QD",
                           "KX7-3QD-",
                           "\u201cKX7-3QD\u201d"}) {
    EXPECT_EQ(codes_in(text), Codes{"KX7-3QD"}) << text;
  }
}

TEST(Codes, AreNotReadOutOfWordsAndNumbers) {
  for (const char* text : {"", "KX7", "KX7-", "KX7-3Q", "answer", "ANSWER", "answered", "234567",
                           "2345678", "ask-any", "the was", "SEE THE 234", "KX7-3QDX", "AKX7-3QD",
                           "KX7-3QD-AB", "KO7-3QD", "KX7-3Q0", "KX7--3QD", "KX7\n3QD"}) {
    EXPECT_EQ(codes_in(text), Codes{}) << text;
  }
}

TEST(Codes, ComeInOrderWithRepeats) {
  EXPECT_EQ(codes_in("1: KX7-3QD, 2: ab2-c3d; again KX73QD"),
            (Codes{"KX7-3QD", "AB2-C3D", "KX7-3QD"}));
  EXPECT_EQ(codes_in("KX7-3QD AB2-C3D"), (Codes{"KX7-3QD", "AB2-C3D"}));
}

TEST(Codes, NearOnesDifferByOneSymbol) {
  Rng rng(2, "near");
  for (int i = 0; i < 500; ++i) {
    const std::string near = near_code(rng, "KX7-3QD");
    int differ = 0;
    for (size_t j = 0; j < 7; ++j) {
      differ += near[j] != "KX7-3QD"[j] ? 1 : 0;
    }
    ASSERT_EQ(differ, 1) << near;
  }
}

TEST(Codes, ASourceNeverDrawsOneTwice) {
  CodeSource source(1, "source", 0);
  source.avoid("KX7-3QD");
  std::set<std::string> drawn{"KX7-3QD"};
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(drawn.insert(source.next_near("KX7-3QD")).second);
    EXPECT_TRUE(drawn.insert(source.next()).second);
  }
}

}  // namespace
}  // namespace gyre::accept
