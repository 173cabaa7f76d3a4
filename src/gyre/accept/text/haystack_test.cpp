// The haystack: exact bytes, sentence ends, and the same filler whatever the sentences say.
#include <gtest/gtest.h>

#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

const std::string kOne = "Here is the first sentence.", kTwo = "And this one is second.";

TEST(Haystack, HasExactlyTheBytesAskedFor) {
  for (int64_t n = 200; n < 800; ++n) {
    ASSERT_EQ(std::ssize(make_haystack(1, n, {{0.3, kOne}, {0.7, kTwo}}).text), n);
  }
}

TEST(Haystack, TellsWhereEachSentenceStands) {
  const auto hay = make_haystack(1, 5000, {{0.7, kTwo}, {0.3, kOne}});
  EXPECT_EQ(hay.text.substr(size_t(hay.offsets[0]), kTwo.size()), kTwo);
  EXPECT_EQ(hay.text.substr(size_t(hay.offsets[1]), kOne.size()), kOne);
  EXPECT_NEAR(double(hay.offsets[0]) / 5000, 0.7, 0.02);
  EXPECT_NEAR(double(hay.offsets[1]) / 5000, 0.3, 0.02);
}

TEST(Haystack, PutsSentencesAtSentenceEnds) {
  for (int i = 0; i <= 20; ++i) {
    const auto hay = make_haystack(1, 3000, {{i / 20.0, kOne}});
    const auto at = size_t(hay.offsets[0]), end = at + kOne.size();
    EXPECT_TRUE(at == 0 || hay.text.substr(at - 2, 2) == ". ");
    EXPECT_TRUE(end == hay.text.size() || hay.text[end] == ' ');
  }
  EXPECT_EQ(make_haystack(1, 3000, {{0.0, kOne}}).offsets[0], 0);
  EXPECT_EQ(make_haystack(1, 3000, {{1.0, kOne}}).offsets[0], 3000 - std::ssize(kOne));
}

TEST(Haystack, KeepsTheFillerWhenTheSentencesChange) {
  auto with = make_haystack(1, 3000, {{0.5, kOne}, {0.5, kTwo}});
  const std::string other(kOne.rbegin(), kOne.rend());
  const auto swapped = make_haystack(1, 3000, {{0.5, other}, {0.5, kTwo}});
  EXPECT_EQ(with.offsets, swapped.offsets);
  with.text.replace(size_t(with.offsets[0]), other.size(), other);
  EXPECT_EQ(with.text, swapped.text);
  const auto moved = make_haystack(1, 3000, {{0.9, kOne}, {0.5, kTwo}});
  EXPECT_EQ(with.text.substr(0, 1000), moved.text.substr(0, 1000));
}

TEST(Haystack, MayHoldNothingButItsSentences) {
  EXPECT_EQ(make_haystack(1, 0, {}).text, "");
  const int64_t n = std::ssize(kOne) + 1 + std::ssize(kTwo);
  EXPECT_EQ(make_haystack(1, n, {{0.5, kOne}, {0.6, kTwo}}).text, kOne + " " + kTwo);
}

TEST(Haystack, SaysWhenTheSentencesDoNotFit) {
  try {
    make_haystack(1, 40, {{0.5, kOne}});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "haystack: the sentences take 28 bytes and the filler at least 24, but there is "
                 "room for 40; ask for a longer prompt or fewer sentences");
  }
}

}  // namespace
}  // namespace gyre::accept
