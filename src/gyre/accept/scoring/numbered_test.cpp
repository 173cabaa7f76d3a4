// Numbered answers in the shapes in which models write lists.
#include <gtest/gtest.h>

#include "gyre/accept/scoring.h"

namespace gyre::accept {
namespace {

using Codes = std::vector<std::string>;
const Codes kThree{"KX7-3QD", "AB2-C3D", "M4M-5N6"};

Item item() {
  Item made;
  made.form = AnswerForm::Numbered;
  made.gold = kThree;
  return made;
}

Judgement judged(const std::string& text, const std::string& finish = "stop") {
  Reply reply;
  reply.text = text;
  reply.finish = finish;
  return judge(item(), reply);
}

TEST(Numbered, ListsAreReadInManyShapes) {
  for (const char* text :
       {"1: KX7-3QD\n2: AB2-C3D\n3: M4M-5N6", "1. KX7-3QD\n2. AB2-C3D\n3. M4M-5N6",
        "1) KX7-3QD 2) AB2-C3D 3) M4M-5N6",
        "Checkpoint 1: KX7-3QD\nCheckpoint 2: AB2-C3D\n"
        "Checkpoint 3: M4M-5N6",
        "**1:** `kx7-3qd`\n**2:** `ab2-c3d`\n**3:** `m4m-5n6`",
        "| # | code |\n|---|---|\n| 1 | KX7-3QD |\n| 2 | AB2-C3D |\n| 3 | M4M-5N6 |",
        "{\"1\": \"KX7-3QD\", \"2\": \"AB2-C3D\", \"3\": \"M4M-5N6\"}",
        "The code of checkpoint 1 is KX7-3QD, the code of checkpoint 2 is AB2-C3D and checkpoint 3 "
        "has the code M4M-5N6.",
        "3: M4M-5N6\n1: KX7-3QD\n2: AB2-C3D",
        "Here are the codes of checkpoints 1 to 3:\n\nKX7-3QD\nAB2-C3D\nM4M-5N6",
        "KX7-3QD, AB2-C3D, M4M-5N6", "- KX7-3QD\n- AB2-C3D\n- M4M-5N6",
        "1:\nKX7-3QD\n2:\nAB2-C3D\n3:\nM4M-5N6", "1 - KX7-3QD\n2 - AB2-C3D\n3 - M4M-5N6",
        "1 KX7-3QD\n2 AB2-C3D\n3 M4M-5N6", "{\"answer\": \"1: KX7-3QD, 2: AB2-C3D, 3: M4M-5N6\"}",
        "<think>1: M4M-5N6</think>1: KX7-3QD\n2: AB2-C3D\n3: M4M-5N6"}) {
    EXPECT_EQ(judged(text).verdict, Verdict::Ok) << text;
  }
}

TEST(Numbered, MissingOnesKeepTheirPlace) {
  EXPECT_EQ(numbered_codes("1: NONE\n2: AB2-C3D\n3: NONE", 3), (Codes{"", "AB2-C3D", ""}));
  EXPECT_EQ(numbered_codes("3: M4M-5N6", 3), (Codes{"", "", "M4M-5N6"}));
  EXPECT_EQ(numbered_codes("NONE\nAB2-C3D\nM4M-5N6", 3), (Codes{"", "AB2-C3D", "M4M-5N6"}));
  EXPECT_EQ(numbered_codes("", 2), (Codes{"", ""}));
  EXPECT_EQ(numbered_codes("17: KX7-3QD", 3), (Codes{"", "", ""}));
}

TEST(Numbered, VerdictsTellMissingFromWrong) {
  EXPECT_EQ(judged("1: NONE\n2: AB2-C3D\n3: M4M-5N6").verdict, Verdict::Partial);
  EXPECT_EQ(judged("1: NONE\n2: AB2-C3D\n3: M4M-5N6").found, "NONE AB2-C3D M4M-5N6");
  EXPECT_EQ(judged("1: NONE\n2: NONE\n3: NONE").verdict, Verdict::NoneSaid);
  EXPECT_EQ(judged("1: KX7-3QD\n2: 222-ABC\n3: M4M-5N6").verdict, Verdict::WrongCode);
  EXPECT_EQ(judged("1: KX7-3QD\n2: M4M-5N6\n3: AB2-C3D").verdict, Verdict::Distractor);
  EXPECT_EQ(judged("I have read the text.").verdict, Verdict::Format);
  EXPECT_EQ(judged("222-ABC 333-ABC 444-ABC 555-ABC 666-ABC 777-ABC").verdict, Verdict::Dump);
}

TEST(Numbered, ACutListIsCutAndAWholeOneIsNot) {
  EXPECT_EQ(judged("1: KX7-3QD\n2: AB2", "length").verdict, Verdict::Cut);
  EXPECT_EQ(judged("1: KX7-3QD\n2: AB2-C3D", "length").verdict, Verdict::Cut);
  EXPECT_EQ(judged("1: KX7-3QD\n2: AB2-C3D\n3: M4M-5N6\n\nDocument", "length").verdict,
            Verdict::Ok);
  EXPECT_EQ(judged("The codes are:\n1: KX7-3QD\n2: AB2-C3D\n3: M4M-5N6\n", "length").verdict,
            Verdict::Ok);
  EXPECT_EQ(judged("1: KX7-3QD\n2: AB2-C3D\n3: NONE\nNow", "length").verdict, Verdict::Partial);
  EXPECT_EQ(
      judged("Let me see. It could be 1: KX7-3QD\n2: AB2-C3D\n3: M4M-5N6. But wait.", "length")
          .verdict,
      Verdict::Cut);
}

}  // namespace
}  // namespace gyre::accept
