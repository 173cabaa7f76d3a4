// The roll call: exact lengths, all checkpoints once and in order, and what each dial changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "gyre/accept/tasks/task.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

Frame frame(int64_t length = 4096) {
  Frame made;
  made.length = length;
  made.max_tokens = 200;
  made.calibration.overhead = 20;
  made.calibration.tokens_per_byte = 0.25;
  return made;
}

std::string text_of(const Item& item) {
  std::string text;
  for (const auto& message : item.ask.messages) {
    text += message.content;
  }
  return text;
}

TEST(RollCall, FillsTheLengthToTheByte) {
  for (const int64_t length : {512, 1024, 1037, 4096, 16384}) {
    for (const Api api : {Api::Chat, Api::Completions}) {
      Frame made = frame(length);
      made.api = api;
      const Item item = make_roll_call({}, made);
      EXPECT_EQ(std::ssize(text_of(item)), (length - 200 - 20) * 4);
      EXPECT_EQ(item.tokens_predicted, length - 200);
    }
  }
}

TEST(RollCall, HoldsEachCheckpointOnceInTheMiddleOfItsStripe) {
  const Item item = make_roll_call({}, frame());
  check_prompt(item);
  ASSERT_EQ(item.gold.size(), 16u);
  EXPECT_EQ(std::set<std::string>(item.gold.begin(), item.gold.end()).size(), 16u);
  EXPECT_EQ(codes_in(text_of(item)), item.gold);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(item.sentences[i], "Checkpoint " + std::to_string(i + 1) + ": " + item.gold[i] + ".");
    EXPECT_NEAR(item.evidence[i].fraction, (double(i) + 0.5) / 16, 0.02);
    EXPECT_NEAR(double(item.evidence[i].from_start + item.evidence[i].from_end), 4096 - 220, 1);
  }
}

TEST(RollCall, AsksBeforeAndAfterTheTextAndStartsWithTheSalt) {
  const std::string text = text_of(make_roll_call({}, frame()));
  const std::string question = "List the codes of checkpoints 1 to 16 in order.";
  EXPECT_EQ(text.substr(0, 9), "Document ");
  EXPECT_EQ(text.find(question), 22u);
  EXPECT_GT(text.rfind(question), text.size() - 250);
}

TEST(RollCall, AnotherSaltIsAnotherText) {
  RollCall other;
  other.salt = 1;
  const Item a = make_roll_call({}, frame()), b = make_roll_call(other, frame());
  EXPECT_NE(text_of(a).substr(9, 12), text_of(b).substr(9, 12));
  EXPECT_NE(a.gold, b.gold);
  EXPECT_EQ(text_of(a).size(), text_of(b).size());
}

TEST(RollCall, TheProbeChangesOneSentenceOfItsStripe) {
  const std::string whole = text_of(make_roll_call({}, frame()));
  for (int64_t stripe = 0; stripe < 16; ++stripe) {
    RollCall dials;
    dials.changed = stripe;
    const Item item = make_roll_call(dials, frame());
    const std::string text = text_of(item);
    ASSERT_EQ(text.size(), whole.size());
    const auto [first, unused] = std::mismatch(whole.begin(), whole.end(), text.begin());
    const auto [last, unused_too] = std::mismatch(whole.rbegin(), whole.rend(), text.rbegin());
    const auto begin = first - whole.begin();
    const auto end = std::ssize(whole) - (last - whole.rbegin());
    EXPECT_GT(end - begin, 5);
    EXPECT_LE(end - begin, 60);
    const auto share = double(begin) / double(whole.size());
    EXPECT_GT(share, double(stripe) / 16 - 0.02);
    EXPECT_LT(share, (double(stripe) + 0.5) / 16 + 0.01);
    EXPECT_EQ(codes_in(text), item.gold);
    EXPECT_EQ(item.gold, make_roll_call({}, frame()).gold);
  }
}

TEST(RollCall, AsksForOneCheckpointOnly) {
  RollCall dials;
  dials.only = 7;
  const Item all = make_roll_call({}, frame()), item = make_roll_call(dials, frame());
  EXPECT_EQ(item.form, AnswerForm::Codes);
  EXPECT_EQ(item.gold, std::vector<std::string>{all.gold[6]});
  EXPECT_EQ(item.distractors.size(), 15u);
  EXPECT_NE(text_of(item).find("What is the code of checkpoint 7?"), std::string::npos);
}

TEST(RollCall, OddBytesStandHalfWayWithCodesAfterThem) {
  RollCall dials;
  dials.odd = std::string("a\0b", 3) + "<|endoftext|>\r\n\U0001F9ED";
  const Item item = make_roll_call(dials, frame());
  const std::string text = text_of(item);
  const auto at = text.find(dials.odd);
  ASSERT_NE(at, std::string::npos);
  EXPECT_GT(at, text.find(item.sentences[7]));
  EXPECT_LT(at, text.find(item.sentences[8]));
  EXPECT_EQ(std::ssize(text), (4096 - 220) * 4);
}

TEST(RollCall, TurnsSpreadTheSameTextOverMessages) {
  RollCall dials;
  dials.turns = 4;
  const Item item = make_roll_call(dials, frame());
  check_prompt(item);
  std::vector<std::string> roles;
  for (const auto& message : item.ask.messages) {
    roles.push_back(message.role);
  }
  EXPECT_EQ(roles,
            (std::vector<std::string>{"system", "user", "assistant", "user", "assistant", "user"}));
  EXPECT_EQ(codes_in(text_of(item)), item.gold);
  EXPECT_EQ(item.gold, make_roll_call({}, frame()).gold);
  EXPECT_EQ(std::ssize(text_of(item)), (4096 - 220) * 4);
  for (const size_t i : {0, 1, 3, 5}) {
    EXPECT_EQ(codes_in(item.ask.messages[i].content).size(), 4u);
  }
}

TEST(RollCall, TooShortALengthIsSaid) {
  try {
    make_roll_call({}, frame(400));
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("the sentences take "), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("ask for a longer prompt"), std::string::npos);
    EXPECT_EQ(error.code(), Code::Usage);
  }
}

TEST(CheckPrompt, NamesTheSentenceAndHowOftenItStands) {
  Item item = make_roll_call({}, frame(1024));
  item.ask.messages[0].content += " " + item.sentences[3];
  try {
    check_prompt(item);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "item roll_call: the evidence \"" + item.sentences[3] +
                  "\" must stand in the prompt once, but stands there 2 times");
  }
}

}  // namespace
}  // namespace gyre::accept
