// Verdicts of answers: what comes before reading, and codes in any wording.
#include "gyre/accept/scoring.h"

#include <gtest/gtest.h>

namespace gyre::accept {
namespace {

const std::string kGold = "KX7-3QD", kNear = "AB2-C3D", kAbsent = "M4M-5N6";

Item codes_item(std::vector<std::string> gold = {kGold}) {
  Item item;
  item.form = AnswerForm::Codes;
  item.gold = std::move(gold);
  item.distractors = {{kNear, 4, 0.2}};
  return item;
}

Reply says(const std::string& text, const std::string& finish = "stop") {
  Reply reply;
  reply.text = text;
  reply.finish = finish;
  return reply;
}

Verdict verdict(const Item& item, const std::string& text, const std::string& finish = "stop") {
  return judge(item, says(text, finish)).verdict;
}

// The same fact in other words must score the same: serving case 30.
TEST(Scoring, TheWordingDoesNotMatter) {
  for (const char* text :
       {"KX7-3QD", "The code is KX7-3QD.", "**KX7-3QD**", "It carries code \"KX7-3QD\", as filed.",
        "Looking at the records, I find that the answer you are looking for is KX7-3QD .",
        "kx7-3qd", "KX73QD", "KX7\u20133QD", "`KX7-3QD`", "{\"answer\": \"KX7-3QD\"}",
        "Answer: KX7-3QD", "- KX7-3QD\n", "The code is KX7-3QD. I repeat: KX7-3QD.",
        "After reading everything with care, I can say the following.\n\nKX7-3QD\n\nPlease ask.",
        "<think>It may be AB2-C3D or M4M-5N6.</think>\nKX7-3QD",
        "so it is AB2-C3D, no.\n</think>\n\nKX7-3QD", "[THINK]hm AB2-C3D[/THINK]KX7-3QD",
        "<|channel|>analysis<|message|>AB2-C3D?<|channel|>final<|message|>KX7-3QD"}) {
    const auto judgement = judge(codes_item(), says(text));
    EXPECT_EQ(judgement.verdict, Verdict::Ok) << text;
    EXPECT_EQ(judgement.found, kGold) << text;
  }
}

TEST(Scoring, WrongCodesAreToldApart) {
  EXPECT_EQ(verdict(codes_item(), kNear), Verdict::Distractor);
  EXPECT_EQ(verdict(codes_item(), kAbsent), Verdict::WrongCode);
  EXPECT_EQ(verdict(codes_item(), "KX7-3QE"), Verdict::WrongCode);
  EXPECT_EQ(verdict(codes_item(), "KX7-3QD or AB2-C3D"), Verdict::Distractor);
  EXPECT_EQ(verdict(codes_item(), "KX7-3QD or M4M-5N6"), Verdict::WrongCode);
  EXPECT_EQ(verdict(codes_item(), "KX7-3QD AB2-C3D M4M-5N6 222-ABC"), Verdict::Dump);
  EXPECT_EQ(verdict(codes_item({kGold, kAbsent}), kGold), Verdict::Partial);
  EXPECT_EQ(verdict(codes_item({kGold, kAbsent}), "M4M-5N6 and KX7-3QD"), Verdict::Ok);
}

TEST(Scoring, NoneIsRightOnlyWhereNothingIsThere) {
  for (const char* text :
       {"NONE", "none.", "**NONE**", "The code is NONE.", "The text does not say.",
        "There is no code for that in the text.", "The records don't say; not mentioned.",
        "I cannot find it in the text.", "The text doesn\u2019t mention it."}) {
    EXPECT_EQ(verdict(codes_item(), text), Verdict::NoneSaid) << text;
    EXPECT_EQ(verdict(codes_item({}), text), Verdict::Ok) << text;
  }
  EXPECT_EQ(verdict(codes_item({}), kNear), Verdict::Distractor);
  EXPECT_EQ(verdict(codes_item({}), kAbsent), Verdict::WrongCode);
  EXPECT_EQ(verdict(codes_item({}), "NONE, but AB2-C3D is near"), Verdict::Distractor);
}

TEST(Scoring, RefusalsAndNoiseAreNoAnswers) {
  EXPECT_EQ(verdict(codes_item(), "I'm sorry, but I can't help with that."), Verdict::Refusal);
  EXPECT_EQ(verdict(codes_item({}), "I'm sorry, but I can't help with that."), Verdict::Refusal);
  EXPECT_EQ(verdict(codes_item(), "the the the the the the the"), Verdict::Format);
  EXPECT_EQ(verdict(codes_item(), "ilty ### }} aaaa esian 0000"), Verdict::Format);
  EXPECT_EQ(verdict(codes_item(), "KX7 then 3QD"), Verdict::Format);
}

TEST(Scoring, FaultsAreErrors) {
  Reply reply = says(kGold);
  reply.fault = Fault::NoEnd;
  EXPECT_EQ(judge(codes_item(), reply).verdict, Verdict::Error);
}

TEST(Scoring, NoTextIsEmptyOrCut) {
  EXPECT_EQ(verdict(codes_item(), ""), Verdict::Empty);
  EXPECT_EQ(verdict(codes_item(), " \n\n"), Verdict::Empty);
  EXPECT_EQ(verdict(codes_item(), "", "content_filter"), Verdict::Refusal);
  EXPECT_EQ(verdict(codes_item(), "", "length"), Verdict::Empty);  // wrote nothing at all
  Reply reply = says("", "length");
  reply.completion_tokens = 64;  // hidden thinking took them
  EXPECT_EQ(judge(codes_item(), reply).verdict, Verdict::Cut);
}

TEST(Scoring, AnAnswerInTheReasoningOnlyIsEmptyAndNoted) {
  Reply reply = says("");
  reply.reasoning = "It is KX7-3QD.";
  EXPECT_EQ(judge(codes_item(), reply).verdict, Verdict::Empty);
  EXPECT_TRUE(judge(codes_item(), reply).in_reasoning);
  reply.reasoning = "It is AB2-C3D.";
  EXPECT_FALSE(judge(codes_item(), reply).in_reasoning);
  reply.finish = "length";
  EXPECT_EQ(judge(codes_item(), reply).verdict, Verdict::Cut);
  EXPECT_FALSE(judge(codes_item(), says(kGold)).in_reasoning);
}

// Serving case 28: the chain of thought names the right code and is cut off.
TEST(Scoring, CodesInACutAnswerDoNotCount) {
  for (const char* text :
       {"<think>\nLet me see. It could be KX7-3QD. But wait.", "<think>KX7-3QD",
        "Let me see. One of them is AB2-C3D. So it could be KX7-3QD. But wait. I should check",
        "I think it is KX7-3QD. But", "KX7-3QD is what the first record says, but"}) {
    EXPECT_EQ(verdict(codes_item(), text, "length"), Verdict::Cut) << text;
    EXPECT_EQ(judge(codes_item(), says(text, "length")).found, "") << text;
  }
  EXPECT_EQ(verdict(codes_item(), "<think>KX7-3QD", "stop"), Verdict::Cut);
}

TEST(Scoring, AnAnswerThatWasGivenBeforeTheBudgetEndedCounts) {
  for (const char* text : {"KX7-3QD", "KX7-3QD. The code for the red kettle is", "**KX7-3QD**",
                           " KX7-3QD\n\nQuestion: what is AB2-C3D?", "The code is KX7-3QD. So"}) {
    EXPECT_EQ(verdict(codes_item(), text, "length"), Verdict::Ok) << text;
  }
  EXPECT_EQ(verdict(codes_item(), "NONE\n\nQuestion:", "length"), Verdict::NoneSaid);
  EXPECT_EQ(verdict(codes_item(), "KX7-3", "length"), Verdict::Cut);
}

// Quadratic reading of any of these would take minutes.
TEST(Scoring, HostileAnswersAreReadInOnePass) {
  const auto repeated = [](const std::string& piece) {
    std::string text;
    while (text.size() < 1000000) {
      text += piece;
    }
    return text;
  };
  EXPECT_EQ(verdict(codes_item(), repeated("</think>")), Verdict::Empty);
  EXPECT_EQ(verdict(codes_item(), repeated("<think>")), Verdict::Cut);
  EXPECT_EQ(verdict(codes_item(), repeated("<think></think>") + kGold), Verdict::Ok);
  EXPECT_EQ(verdict(codes_item(), repeated("\u2019")), Verdict::Format);
  EXPECT_EQ(verdict(codes_item(), repeated("KX7-3QD ")), Verdict::Ok);
  std::string dump;
  for (int i = 0; i < 100000; ++i) {
    const std::string symbols = "23456789ABCDEFGH";
    dump += std::string("K") + symbols[size_t(i) & 15] + symbols[size_t(i) >> 4 & 15] + "-" +
            symbols[size_t(i) >> 8 & 15] + symbols[size_t(i) >> 12 & 15] + "7 ";
  }
  EXPECT_EQ(verdict(codes_item(), dump), Verdict::Dump);
  EXPECT_LT(judge(codes_item(), says(dump)).found.size(), 400u);
  EXPECT_EQ(verdict(codes_item(), dump, "length"), Verdict::Cut);
}

TEST(Scoring, RankingTakesTheLikeliestCandidate) {
  Item item;
  item.form = AnswerForm::Ranking;
  item.gold = {"7"};
  item.distractors = {{"3", 2, 0.1}};
  item.ask.candidates = {" 3", " 7", " 9"};
  Reply reply;
  reply.candidates = {-2.0, -1.0, std::nullopt};
  EXPECT_EQ(judge(item, reply).verdict, Verdict::Ok);
  EXPECT_EQ(judge(item, reply).found, "7");
  reply.candidates = {-0.5, -1.0, -3.0};
  EXPECT_EQ(judge(item, reply).verdict, Verdict::Distractor);
  reply.candidates = {-5.0, -4.0, -3.0};
  EXPECT_EQ(judge(item, reply).verdict, Verdict::WrongCode);
  reply.candidates = {std::nullopt, std::nullopt, std::nullopt};
  EXPECT_EQ(judge(item, reply).verdict, Verdict::Format);
}

TEST(Scoring, FreeAnswersNeedATextAndAnEnd) {
  Item item;
  item.form = AnswerForm::Free;
  EXPECT_EQ(verdict(item, "1\n2\n3"), Verdict::Ok);
  EXPECT_EQ(verdict(item, ""), Verdict::Empty);
  EXPECT_EQ(verdict(item, "1\n2\n3", "length"), Verdict::Cut);
}

}  // namespace
}  // namespace gyre::accept
