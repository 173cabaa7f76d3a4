#include "gyre/evaluate/needle_items.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gyre/base/error.h"

namespace gyre::evaluate {
namespace {

const model::Tokenizer& bytes() {
  static const auto tokenizer = model::byte_tokenizer();
  return *tokenizer;
}

std::vector<NeedleItem> items(NeedleFamily family, int64_t n_distractors, int64_t n_items = 64) {
  return make_needle_items(needle_alphabet(bytes(), family),
                           {family, n_distractors, 7, n_items, 1});
}

std::string text(const std::vector<int64_t>& ids) {
  return bytes().decode({ids.begin(), ids.end()});
}

size_t count(const std::string& where, const std::string& what) {
  size_t n = 0;
  for (size_t at = where.find(what); at != std::string::npos; at = where.find(what, at + 1)) {
    ++n;
  }
  return n;
}

TEST(NeedleItems, ArePinned) {
  // Recorded from the first run: items must never change, or results of different days do not pair.
  EXPECT_EQ(text(items(NeedleFamily::Pairs, 3)[0].context), "\nvX\ngf\nts\nSi\nv");
  EXPECT_EQ(text(items(NeedleFamily::Pairs, 0)[5].context), "\nLH\nL");
  EXPECT_EQ(text(items(NeedleFamily::Lines, 1)[1].context), "\nWt is L\nAR is m\nAR is ");
}

TEST(NeedleItems, ContextHoldsTheEvidenceOnceAndTheControlNot) {
  for (const NeedleFamily family : {NeedleFamily::Pairs, NeedleFamily::Lines}) {
    const std::string cue = family == NeedleFamily::Lines ? " is " : "";
    const size_t n_key = family == NeedleFamily::Lines ? 2 : 1;
    for (const int64_t k : {0, 1, 3, 7, 15, 31}) {
      for (const NeedleItem& item : items(family, k)) {
        const std::string context = text(item.context), control = text(item.control);
        const std::string asked = context.substr(context.size() - n_key - cue.size());
        const std::string value = text({item.options[item.answer]});
        EXPECT_EQ(count(context, "\n" + asked + value + "\n"), 1U) << context;
        EXPECT_EQ(count(context, asked), 2U) << context;  // in its pair and in the question
        EXPECT_EQ(count(control, asked), 1U) << control;  // in the question
        EXPECT_EQ(item.context.size(), item.control.size());
        EXPECT_EQ(std::count(context.begin(), context.end(), '\n'), k + 2);
      }
    }
  }
}

TEST(NeedleItems, OptionsAreDistinctAndPresent) {
  for (const int64_t k : {1, 7, 31}) {
    for (const NeedleItem& item : items(NeedleFamily::Pairs, k)) {
      const std::set<int64_t> distinct(item.options.begin(), item.options.end());
      EXPECT_EQ(static_cast<int64_t>(distinct.size()), k + 1);
      for (const int64_t option : item.options) {
        EXPECT_EQ(std::count(item.context.begin(), item.context.end(), option) > 0, true);
        EXPECT_EQ(std::count(item.control.begin(), item.control.end(), option) > 0, true);
      }
    }
  }
}

TEST(NeedleItems, AtNoDistractorsFoilsAreAbsent) {
  for (const NeedleItem& item : items(NeedleFamily::Pairs, 0)) {
    ASSERT_EQ(item.options.size(), 8U);
    for (size_t i = 0; i < item.options.size(); ++i) {
      const auto in_context = std::count(item.context.begin(), item.context.end(), item.options[i]);
      EXPECT_EQ(in_context, i == item.answer ? 1 : 0);
      EXPECT_EQ(std::count(item.control.begin(), item.control.end(), item.options[i]), 0);
    }
  }
}

TEST(NeedleItems, DepthAndAnswerAreBalanced) {
  std::vector<int> depth(8, 0), answer(8, 0);
  for (const NeedleItem& item : items(NeedleFamily::Pairs, 7)) {
    ++depth[static_cast<size_t>(item.depth * 8)];
    ++answer[item.answer];
  }
  EXPECT_EQ(depth, std::vector<int>(8, 8));
  EXPECT_EQ(answer, std::vector<int>(8, 8));
}

TEST(NeedleItems, DependOnSeedAndItemAlone) {
  const NeedleAlphabet alphabet = needle_alphabet(bytes(), NeedleFamily::Pairs);
  const auto few = make_needle_items(alphabet, {NeedleFamily::Pairs, 3, 7, 4, 1});
  const auto many = make_needle_items(alphabet, {NeedleFamily::Pairs, 3, 7, 9, 1});
  const auto other = make_needle_items(alphabet, {NeedleFamily::Pairs, 3, 7, 4, 2});
  EXPECT_EQ(few[2].context, many[2].context);
  EXPECT_NE(few[2].context, other[2].context);
}

TEST(NeedleItems, ChanceIsOneOverTheOptions) {
  EXPECT_DOUBLE_EQ(needle_chance({NeedleFamily::Pairs, 0, 7, 1, 1}), 1.0 / 8);
  EXPECT_DOUBLE_EQ(needle_chance({NeedleFamily::Pairs, 1, 7, 1, 1}), 1.0 / 2);
  EXPECT_DOUBLE_EQ(needle_chance({NeedleFamily::Pairs, 31, 7, 1, 1}), 1.0 / 32);
}

TEST(NeedleItems, TooFewLettersIsAnError) {
  try {
    items(NeedleFamily::Pairs, 63);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "needle: 63 distractors need 66 letters that are one token each, the tokenizer "
                 "has 52; use fewer --distractors or --needle-foils");
  }
}

TEST(NeedleItems, WorkWithATrainedTokenizer) {
  const std::string text = "the quick brown fox is here. the quick brown fox is there. ab ab ab";
  const auto bpe = model::train_bpe({text}, 270);
  const NeedleAlphabet alphabet = needle_alphabet(*bpe, NeedleFamily::Lines);
  EXPECT_EQ(alphabet.letters.size(), 52U);
  const auto made = make_needle_items(alphabet, {NeedleFamily::Lines, 3, 7, 8, 1});
  const std::vector<int64_t>& ids = made[0].context;
  const std::string shown = bpe->decode({ids.begin(), ids.end()});
  EXPECT_EQ(count(shown, " is "), 5U) << shown;
}

}  // namespace
}  // namespace gyre::evaluate
