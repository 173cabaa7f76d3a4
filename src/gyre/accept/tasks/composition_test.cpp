// Joins, chains, contradictions and rankings: golds worked out from the sentences in the prompt.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "gyre/accept/tasks/task.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

Frame frame(int64_t length = 2048) {
  Frame made;
  made.length = length;
  return made;
}

const std::string& text_of(const Item& item) {
  return item.ask.messages[0].content;
}

/// The value that a record carries: its last word without the full stop.
std::string value_of(const std::string& sentence) {
  const auto at = sentence.rfind(' ') + 1;
  return sentence.substr(at, sentence.size() - at - 1);
}

TEST(Join, PutsThePartsTogetherInTheOrderOfTheQuestion) {
  for (int64_t m = 2; m <= 4; ++m) {
    Join dials;
    dials.parts = m;
    dials.fractions = {0.9, 0.1, 0.5, 0.3};
    dials.fractions.resize(size_t(m));
    const Item item = make_join(dials, frame());
    check_prompt(item);
    ASSERT_EQ(std::ssize(item.sentences), m);
    std::string symbols;
    for (const auto& sentence : item.sentences) {
      symbols += value_of(sentence);
    }
    EXPECT_EQ(item.gold[0], symbols.substr(0, 3) + "-" + symbols.substr(3));
    EXPECT_EQ(codes_in(item.gold[0]), item.gold);
    for (size_t i = 0; i < size_t(m); ++i) {
      EXPECT_NEAR(item.evidence[i].fraction, dials.fractions[i], 0.06);
    }
    EXPECT_TRUE(codes_in(text_of(item)).empty());
    EXPECT_EQ(std::ssize(text_of(item)), (2048 - 64) * 4);
  }
}

TEST(Join, SumsDigitsMod10) {
  for (int64_t index = 0; index < 20; ++index) {
    const Item item = make_join({true, index, 3, {0.2, 0.5, 0.8}, 0, Arm::Main}, frame());
    int64_t sum = 0;
    for (const auto& sentence : item.sentences) {
      sum += std::stoll(value_of(sentence));
    }
    EXPECT_EQ(item.gold[0], std::to_string(sum % 10));
    EXPECT_EQ(item.form, AnswerForm::Digit);
  }
}

TEST(Join, TheTwinDiffersInOnePart) {
  for (const bool sum : {false, true}) {
    for (int64_t index = 0; index < 10; ++index) {
      Join dials{sum, index, 3, {0.2, 0.5, 0.8}, 0, Arm::Main};
      const Item main = make_join(dials, frame());
      dials.arm = Arm::Swap;
      const Item twin = make_join(dials, frame());
      int64_t differ = 0;
      for (size_t i = 0; i < 3; ++i) {
        differ += main.sentences[i] != twin.sentences[i] ? 1 : 0;
      }
      EXPECT_EQ(differ, 1);
      EXPECT_NE(main.gold, twin.gold);
    }
  }
}

TEST(Join, MayAskForOnePart) {
  const Item item = make_join({false, 0, 2, {0.2, 0.8}, 2, Arm::Main}, frame());
  EXPECT_EQ(item.gold[0], value_of(item.sentences[1]));
  EXPECT_EQ(item.form, AnswerForm::Word);
}

TEST(Join, NeedsAFractionForEachPart) {
  try {
    make_join({false, 0, 3, {0.5}, 0, Arm::Main}, frame());
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "join: 3 parts must be 2 to 4 with a fraction each, got 1 and only 0");
  }
}

TEST(Chain, LinksStandInTheirOrder) {
  for (const LinkOrder order : {LinkOrder::Forward, LinkOrder::Reverse, LinkOrder::Shuffled}) {
    const Item item = make_chain({3, 3, 2, order, {0.1, 0.4, 0.6, 0.9}, 0, Arm::Main}, frame());
    check_prompt(item);
    ASSERT_EQ(item.sentences.size(), 4u);
    EXPECT_NE(item.sentences[0].find("holds code " + item.gold[0]), std::string::npos);
    std::vector<int64_t> starts;
    for (const auto& place : item.evidence) {
      starts.push_back(place.from_start);
    }
    const bool up = std::is_sorted(starts.begin(), starts.end());
    const bool down = std::is_sorted(starts.rbegin(), starts.rend());
    EXPECT_EQ(up, order == LinkOrder::Forward);
    EXPECT_EQ(down, order == LinkOrder::Reverse);
    EXPECT_EQ(item.distractors.size(), 2u);
    EXPECT_EQ(codes_in(text_of(item)).size(), 3u);
  }
}

TEST(Chain, EachLinkNamesTheOneBefore) {
  const Item item =
      make_chain({1, 2, 0, LinkOrder::Forward, {0.1, 0.5, 0.9}, 0, Arm::Main}, frame());
  const auto name = [&](size_t i) { return item.sentences[i].substr(9, 3); };
  EXPECT_EQ(item.sentences[1],
            "Variable " + name(1) + " holds the same code as variable " + name(0) + ".");
  EXPECT_EQ(item.sentences[2],
            "Variable " + name(2) + " holds the same code as variable " + name(1) + ".");
  EXPECT_NE(text_of(item).find("Which code does variable " + name(2) + " hold?"),
            std::string::npos);
  EXPECT_EQ((std::set<std::string>{name(0), name(1), name(2)}).size(), 3u);
}

TEST(Chain, HopsMayBeAskedAlone) {
  Chain dials{1, 2, 1, LinkOrder::Forward, {0.1, 0.5, 0.9}, 2, Arm::Main};
  const Item hop = make_chain(dials, frame());
  EXPECT_EQ(hop.form, AnswerForm::Word);
  EXPECT_EQ(hop.gold[0], hop.sentences[1].substr(9, 3));
  EXPECT_EQ(hop.dials.at("asked"), hop.sentences[2].substr(9, 3));
  dials.only = 3;
  const Item first = make_chain(dials, frame());
  EXPECT_EQ(first.form, AnswerForm::Codes);
  EXPECT_EQ(first.dials.at("asked"), first.sentences[0].substr(9, 3));
  dials.only = 0;
  EXPECT_EQ(first.gold, make_chain(dials, frame()).gold);
}

TEST(Contradiction, FormsHaveTheirClassAndGold) {
  const auto make = [](Conflict form, bool later_first = false) {
    return make_contradiction({2, form, 0.25, 0.75, later_first, Arm::Main}, frame());
  };
  const Item flat = make(Conflict::Flat);
  EXPECT_EQ(flat.gold,
            (std::vector<std::string>{value_of(flat.sentences[0]), value_of(flat.sentences[1])}));
  EXPECT_EQ(flat.dials.at("class"), "CONFLICT");
  const Item withdrawn = make(Conflict::Withdrawn);
  EXPECT_EQ(withdrawn.gold[0], value_of(withdrawn.sentences[1]));
  EXPECT_EQ(withdrawn.sentences[1].find("The code " + value_of(withdrawn.sentences[0])), 0u);
  const Item near = make(Conflict::NearMiss);
  EXPECT_EQ(near.gold[0], value_of(near.sentences[1]));
  EXPECT_EQ(near.distractors[0].similarity, 4);
  for (const bool later_first : {false, true}) {
    const Item amended = make(Conflict::Amended, later_first);
    EXPECT_LT(amended.sentences[0].substr(3, 10), amended.sentences[1].substr(3, 10));
    EXPECT_EQ(amended.gold, std::vector<std::string>{value_of(amended.sentences[1])});
    EXPECT_EQ(amended.evidence[1].from_start < amended.evidence[0].from_start, later_first);
  }
}

TEST(Contradiction, KeysOfASecondStatementAreTheSameOnlyWhereTheyShould) {
  for (int form = 0; form < 4; ++form) {
    const Item item =
        make_contradiction({5, static_cast<Conflict>(form), 0.25, 0.75, false, Arm::Main}, frame());
    const auto key = [](const std::string& sentence) {
      const auto begin = sentence.rfind("n the ");
      return sentence.substr(begin, sentence.find(" carries") - begin);
    };
    EXPECT_EQ(key(item.sentences[0]) == key(item.sentences[1]), form != 3) << form;
  }
}

TEST(Ranked, OffersTheDigitsAndHoldsTheTwinBack) {
  Ranked dials;
  const Item item = make_ranked(dials, frame());
  EXPECT_EQ(item.ask.candidates.size(), 10u);
  EXPECT_EQ(item.ask.candidates[0], " 0");
  EXPECT_TRUE(text_of(item).ends_with(" is"));
  std::set<std::string> digits{item.gold[0], item.dials.at("twin")};
  for (const auto& distractor : item.distractors) {
    digits.insert(distractor.code);
  }
  EXPECT_EQ(digits.size(), 6u);
  EXPECT_EQ(text_of(item).find("is " + item.dials.at("twin") + "."), std::string::npos);
  dials.arm = Arm::Swap;
  EXPECT_EQ(make_ranked(dials, frame()).gold[0], item.dials.at("twin"));
  dials.arm = Arm::NoEvidence;
  EXPECT_EQ(make_ranked(dials, frame()).dials.at("withheld"), item.gold[0]);
  dials.candidates = 11;
  EXPECT_THROW(make_ranked(dials, frame()), Error);
}

}  // namespace
}  // namespace gyre::accept
