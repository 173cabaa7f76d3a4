// Identity of items: every part of a request changes it, nothing else does.
#include "gyre/accept/item.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "gyre/accept/record_testing.h"

namespace gyre::accept {
namespace {

TEST(Identity, IsSixteenHexDigitsAndRepeats) {
  const Item item = testing::a_sample(1).item;
  const std::string sid = identity(item, "http://host/v1 model");
  EXPECT_EQ(sid, identity(item, "http://host/v1 model"));
  EXPECT_EQ(sid.size(), 16u);
  EXPECT_EQ(sid.find_first_not_of("0123456789abcdef"), std::string::npos);
}

TEST(Identity, EveryPartOfTheRequestCounts) {
  const std::vector<std::function<void(Item&)>> changes = {
      [](Item&) {},
      [](Item& i) { i.level = 3; },
      [](Item& i) { i.task = "plain"; },
      [](Item& i) { i.arm = "swap"; },
      [](Item& i) { i.length = 8192; },
      [](Item& i) { i.occasion = 1; },
      [](Item& i) { i.index = 2; },
      [](Item& i) { i.dials["k"] = "31"; },
      [](Item& i) { i.dials["o"] = "none"; },
      [](Item& i) { i.ask.api = Api::Completions; },
      [](Item& i) { i.ask.messages[0].role = "user"; },
      [](Item& i) { i.ask.messages[1].content += " "; },
      [](Item& i) { i.ask.messages.pop_back(); },
      [](Item& i) { i.ask.max_tokens = 17; },
      [](Item& i) { i.ask.top_logprobs = 20; },
      [](Item& i) { i.ask.echo = true; },
      [](Item& i) { i.ask.candidates = {"7"}; },
      [](Item& i) {
        i.ask.candidates = {"7", ""};
      },
  };
  std::set<std::string> sids;
  for (const auto& change : changes) {
    Item item = testing::a_sample(1).item;
    change(item);
    sids.insert(identity(item, "s"));
  }
  EXPECT_EQ(sids.size(), changes.size());
  EXPECT_NE(identity(testing::a_sample(1).item, "s"), identity(testing::a_sample(1).item, "t"));
}

TEST(Identity, TextMovedFromOneMessageToTheNextIsAnotherRequest) {
  Item a = testing::a_sample(1).item, b = a;
  a.ask.messages = {{"user", "ab"}, {"user", "c"}};
  b.ask.messages = {{"user", "a"}, {"user", "bc"}};
  EXPECT_NE(identity(a, "s"), identity(b, "s"));
}

TEST(Identity, JudgementAndPredictionDoNotCount) {
  Item a = testing::a_sample(1).item, b = a;
  b.gold = {"ZZZ-ZZZ"};
  b.tokens_predicted = 1;
  b.evidence.clear();
  EXPECT_EQ(identity(a, "s"), identity(b, "s"));
}

TEST(Names, OfVerdictsFormsAndFaultsReadBack) {
  for (int i = 0; i <= static_cast<int>(Verdict::Error); ++i) {
    EXPECT_EQ(verdict_of(name_of(static_cast<Verdict>(i))), static_cast<Verdict>(i));
  }
  for (int i = 0; i <= static_cast<int>(AnswerForm::Probe); ++i) {
    EXPECT_EQ(form_of(name_of(static_cast<AnswerForm>(i))), static_cast<AnswerForm>(i));
  }
  for (int i = 0; i <= static_cast<int>(Fault::Auth); ++i) {
    EXPECT_EQ(fault_of(name_of(static_cast<Fault>(i))), static_cast<Fault>(i));
  }
  EXPECT_EQ(verdict_of("x"), std::nullopt);
  EXPECT_EQ(form_of("x"), std::nullopt);
  EXPECT_EQ(fault_of("x"), std::nullopt);
}

TEST(Names, FinalFaultsAreThoseThatAskingAgainCannotMend) {
  for (const Fault fault : {Fault::Overflow, Fault::RateLimit, Fault::Client, Fault::Auth}) {
    EXPECT_TRUE(is_final(fault)) << name_of(fault);
  }
  for (const Fault fault : {Fault::Connect, Fault::FirstByte, Fault::Idle, Fault::Deadline,
                            Fault::Cut, Fault::NoEnd, Fault::Busy, Fault::Server}) {
    EXPECT_FALSE(is_final(fault)) << name_of(fault);
  }
}

TEST(PromptText, NamesTheRolesOfChatsAlone) {
  Ask ask;
  ask.messages = {{"system", "Be brief."}, {"user", "Why?"}};
  EXPECT_EQ(prompt_text(ask), "--- system, 9 bytes\nBe brief.\n--- user, 4 bytes\nWhy?\n");
  EXPECT_EQ(prompt_bytes(ask), 13);
  ask.api = Api::Completions;
  ask.messages = {{"user", "Once"}};
  EXPECT_EQ(prompt_text(ask), "Once\n");
}

}  // namespace
}  // namespace gyre::accept
