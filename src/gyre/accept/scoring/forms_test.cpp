// Digits, names, agreement, and answers that are no language.
#include <gtest/gtest.h>

#include "gyre/accept/scoring.h"

namespace gyre::accept {
namespace {

Judgement judged(const Item& item, const std::string& text, const std::string& finish = "stop") {
  Reply reply;
  reply.text = text;
  reply.finish = finish;
  return judge(item, reply);
}

Item item_of(AnswerForm form, std::vector<std::string> gold) {
  Item item;
  item.form = form;
  item.gold = std::move(gold);
  return item;
}

TEST(Digits, AreReadFromTheEndOfASum) {
  const Item item = item_of(AnswerForm::Digit, {"5"});
  for (const char* text :
       {"5", "5.", "**5**", "The last digit is 5.", "7 + 8 = 15, so the last digit is 5.",
        "5 (7 + 8 = 15)", "{\"answer\": \"5\"}", "It is five."}) {
    EXPECT_EQ(judged(item, text).verdict, Verdict::Ok) << text;
  }
  EXPECT_EQ(judged(item, "6").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged(item, "7 + 8 = 15").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged(item, "NONE").verdict, Verdict::NoneSaid);
  EXPECT_EQ(judged(item, "It depends.").verdict, Verdict::Format);
  EXPECT_EQ(judged(item_of(AnswerForm::Digit, {}), "NONE").verdict, Verdict::Ok);
  EXPECT_EQ(judged(item_of(AnswerForm::Digit, {}), "3").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged(item, "5\n\nNext", "length").verdict, Verdict::Ok);
  EXPECT_EQ(judged(item, "First I add 7 and", "length").verdict, Verdict::Cut);
}

TEST(Names, AreThoseThatTheItemKnows) {
  Item item = item_of(AnswerForm::Word, {"K4T"});
  item.dials["asked"] = "M2R";
  item.distractors = {{"Q7Z", 0, 0.0}};
  for (const char* text : {"K4T", "k4t", "**K4T**", "Variable K4T.", "{\"answer\": \"K4T\"}",
                           "Variable M2R holds the same code as variable K4T."}) {
    EXPECT_EQ(judged(item, text).verdict, Verdict::Ok) << text;
  }
  EXPECT_EQ(judged(item, "Q7Z").verdict, Verdict::Distractor);
  EXPECT_EQ(judged(item, "K4T or Q7Z").verdict, Verdict::Distractor);
  EXPECT_EQ(judged(item, "X9X").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged(item, "NONE").verdict, Verdict::NoneSaid);
  EXPECT_EQ(judged(item, "It is the first.").verdict, Verdict::Format);
  EXPECT_EQ(judged(item, "K4T\nVariable", "length").verdict, Verdict::Ok);
  EXPECT_EQ(judged(item, "Let me look at K4T", "length").verdict, Verdict::Cut);
}

TEST(Agreement, NeedsTheClassAndItsCodes) {
  Item one = item_of(AnswerForm::Agreement, {"KX7-3QD"});
  one.distractors = {{"AB2-C3D", 5, 0.2}};
  const Item two = item_of(AnswerForm::Agreement, {"KX7-3QD", "AB2-C3D"});
  for (const char* text :
       {"CONSISTENT KX7-3QD", "**CONSISTENT**: KX7-3QD",
        "The records are consistent; the code is KX7-3QD.", "There is no conflict: KX7-3QD"}) {
    EXPECT_EQ(judged(one, text).verdict, Verdict::Ok) << text;
  }
  for (const char* text :
       {"CONFLICT AB2-C3D KX7-3QD", "CONFLICT: KX7-3QD and AB2-C3D",
        "The records are inconsistent: KX7-3QD, AB2-C3D", "They do not agree (KX7-3QD, AB2-C3D)"}) {
    EXPECT_EQ(judged(two, text).verdict, Verdict::Ok) << text;
  }
  EXPECT_EQ(judged(one, "CONFLICT KX7-3QD AB2-C3D").verdict, Verdict::Distractor);
  EXPECT_EQ(judged(one, "CONFLICT KX7-3QD AB2-C3D").found, "CONFLICT KX7-3QD AB2-C3D");
  EXPECT_EQ(judged(one, "CONFLICT KX7-3QD").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged(two, "CONSISTENT KX7-3QD").verdict, Verdict::Partial);
  EXPECT_EQ(judged(one, "CONSISTENT M4M-5N6").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged(one, "CONSISTENT").verdict, Verdict::Format);
  EXPECT_EQ(judged(one, "KX7-3QD").verdict, Verdict::Format);
  EXPECT_EQ(judged(one, "NONE").verdict, Verdict::NoneSaid);
  EXPECT_EQ(judged(item_of(AnswerForm::Agreement, {}), "NONE").verdict, Verdict::Ok);
  EXPECT_EQ(judged(item_of(AnswerForm::Agreement, {}), "CONSISTENT").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged(one, "CONSISTENT KX7-3QD\nDo the records", "length").verdict, Verdict::Ok);
}

TEST(Noise, RepetitionIsTheShareOfSpansSeenBefore) {
  EXPECT_EQ(repetition("short"), 0.0);
  EXPECT_EQ(repetition("The code that you are looking for is KX7-3QD, as filed in May."), 0.0);
  EXPECT_GT(repetition("the the the the the the the the the the the the"), 0.8);
  EXPECT_GT(repetition(std::string(1000, '!')), 0.99);
  std::string half = "one two three four five six seven eight nine ten eleven twelve ";
  EXPECT_NEAR(repetition(half + half), 40.0 / 103,
              1e-9);  // of 126 - 23 spans those from byte 63 on
  std::string counting;
  for (int i = 1; i <= 200; ++i) {
    counting += std::to_string(i) + "\n";
  }
  EXPECT_EQ(repetition(counting), 0.0);
}

TEST(Noise, GibberishHasSymbolsRunsAndForeignLetters) {
  for (const char* text :
       {"ilty \u7684 ### }} aaaa \uFFFD esian 0000 ovenant Paragraph", "!!!!!!!!!!!!!!!!!!!!!!!!",
        "\x01\x02\x03 abc", "abcdefghijklmnopqrstuvwxyzabcdefgh"}) {
    EXPECT_TRUE(is_gibberish(text)) << text;
  }
  for (const char* text :
       {"", "NONE", "The text does not say.", "1: KX7-3QD\n2: AB2-C3D",
        "\u6587\u672c\u4e2d\u6ca1\u6709\u8bf4\u660e", "Je ne sais pas, d\u00e9sol\u00e9."}) {
    EXPECT_FALSE(is_gibberish(text)) << text;
  }
}

}  // namespace
}  // namespace gyre::accept
