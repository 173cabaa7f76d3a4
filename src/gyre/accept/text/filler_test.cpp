// Filler: exact lengths, nothing repeated, the same density of words everywhere.
#include "gyre/accept/text/filler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "gyre/accept/text/records.h"
#include "gyre/accept/text/sentences.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

TEST(Filler, HasExactlyTheBytesAskedFor) {
  for (int64_t n = 24; n <= 2000; ++n) {
    ASSERT_EQ(std::ssize(filler(7, "exact", n)), n);
  }
  for (const int64_t n : {4096, 65537, 1000003}) {
    EXPECT_EQ(std::ssize(filler(7, "exact", n)), n);
  }
}

TEST(Filler, IsEmptyWhenNoSentenceFits) {
  for (int64_t n = -1; n < 24; ++n) {
    EXPECT_EQ(filler(7, "exact", n), "");
  }
}

TEST(Filler, SentencesHaveAnyLengthFrom24) {
  Rng rng(3, "sentence");
  for (int64_t n = 24; n <= 2000; ++n) {
    const std::string sentence = filler_sentence(rng, n);
    ASSERT_EQ(std::ssize(sentence), n);
    ASSERT_EQ(std::count(sentence.begin(), sentence.end(), '.'), 1) << sentence;
  }
  try {
    filler_sentence(rng, 23);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "filler: a sentence has at least 24 bytes, got 23");
  }
}

TEST(Filler, IsPlainAsciiInSentences) {
  const std::string text = filler(11, "ascii", 50000);
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 127; }));
  EXPECT_EQ(text.find("  "), std::string::npos);
  EXPECT_EQ(text.back(), '.');
  EXPECT_NE(text.front(), ' ');
  for (const char* word : {" code ", "heckpoint", "ariable", " carries", " digit ", " part "}) {
    EXPECT_EQ(text.find(word), std::string::npos) << word;
  }
}

TEST(Filler, DependsOnSeedAndStream) {
  const std::string a = filler(1, "a", 2000);
  EXPECT_EQ(a, filler(1, "a", 2000));
  EXPECT_NE(a.substr(0, 60), filler(2, "a", 2000).substr(0, 60));
  EXPECT_NE(a.substr(0, 60), filler(1, "b", 2000).substr(0, 60));
}

// Long words make a span of 40 bytes short in words ("filed under the blacksmith in September"), so
// a few spans come again; a text that is one repeated block would have nearly all of its spans
// again.
TEST(Filler, RepeatsHardlyAnySpanOf40Bytes) {
  const std::string text = filler(5, "unique", 100000);
  std::unordered_set<std::string_view> seen;
  int64_t again = 0;
  for (size_t i = 0; i + 40 <= text.size(); ++i) {
    again += seen.insert(std::string_view(text).substr(i, 40)).second ? 0 : 1;
  }
  EXPECT_LT(again, 1000);  // 1 %
}

TEST(Filler, HasTheSameDensityOfWordsEverywhere) {
  const std::string text = filler(5, "density", 200000);
  const auto words = [&](size_t begin) {
    const auto from = text.begin() + std::ptrdiff_t(begin);
    return double(std::count(from, from + 20000, ' '));
  };
  const double whole = double(std::count(text.begin(), text.end(), ' ')) / 10;
  for (size_t i = 0; i < 10; ++i) {
    EXPECT_NEAR(words(i * 20000) / whole, 1.0, 0.03);
  }
}

TEST(Filler, RecordsAreAmongItAndNeverWithAKeyOfAnEvidence) {
  const std::string text = filler(5, "records", 100000);
  int64_t records = 0;
  for (auto at = text.find(" filed under "); at != std::string::npos;
       at = text.find(" filed under ", at + 1)) {
    ++records;
  }
  EXPECT_GT(records, 50);
  Rng rng(9, "keys");
  for (int i = 0; i < 2000; ++i) {
    const Key key = filler_key(rng), other = evidence_key(rng);
    ASSERT_EQ((key[0] + key[1] + key[2] + key[3] + key[4]) % 8, 0);
    ASSERT_NE((other[0] + other[1] + other[2] + other[3] + other[4]) % 8, 0);
  }
}

TEST(Salt, IsTheSamePerStreamAndNoCode) {
  const std::string salt = salt_line(1, "a");
  EXPECT_EQ(salt, salt_line(1, "a"));
  EXPECT_NE(salt, salt_line(1, "b"));
  EXPECT_NE(salt, salt_line(2, "a"));
  EXPECT_EQ(salt.substr(0, 9), "Document ");
  EXPECT_EQ(salt.size(), 21u);
  EXPECT_TRUE(codes_in(salt).empty());
}

}  // namespace
}  // namespace gyre::accept
