#include "gyre/data/recall.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

namespace gyre::data {
namespace {

TEST(Recall, EveryStringIsOneOfDifferentLettersRepeated) {
  std::istringstream words(recall_document(3));
  std::string word;
  std::map<size_t, int64_t> periods;
  while (words >> word) {
    const size_t period = std::set<char>(word.begin(), word.end()).size();
    ++periods[period];
    ASSERT_GE(word.size(), 2 * period) << word;
    ASSERT_LE(word.size(), 6 * period) << word;
    for (size_t i = period; i < word.size(); ++i) {
      ASSERT_EQ(word[i], word[i - period]) << word;
    }
  }
  EXPECT_EQ(periods.size(), 23U);  // 2 .. 24, each met among some 900 strings
}

TEST(Recall, DocumentsDependOnTheirIndexAlone) {
  EXPECT_EQ(recall_document(7), recall_document(7));
  EXPECT_NE(recall_document(7), recall_document(8));
  EXPECT_NEAR(static_cast<double>(recall_document(0).size()), 50'000.0, 150.0);
}

}  // namespace
}  // namespace gyre::data
