// Needles: exact lengths, nested distractors, exact similarity, and arms that change one thing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "gyre/accept/tasks/task.h"
#include "gyre/accept/text/filler.h"
#include "gyre/accept/text/records.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

Frame frame(int64_t length = 4096) {
  Frame made;
  made.length = length;
  made.calibration.overhead = 20;
  return made;
}

const std::string& text_of(const Item& item) {
  return item.ask.messages[0].content;
}

Needle with(int64_t distractors, Arm arm = Arm::Main) {
  Needle dials;
  dials.distractors = distractors;
  dials.arm = arm;
  return dials;
}

/// Bytes at which two equally long texts differ.
int64_t difference(const std::string& a, const std::string& b) {
  EXPECT_EQ(a.size(), b.size());
  int64_t n = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    n += a[i] != b[i] ? 1 : 0;
  }
  return n;
}

TEST(Needle, FillsTheLengthToTheByte) {
  for (const int64_t length : {512, 1024, 4096, 16384}) {
    for (const int64_t k : {int64_t{0}, most_distractors(frame(length))}) {
      const Item item = make_needle(with(k), frame(length));
      EXPECT_EQ(std::ssize(text_of(item)), (length - 64 - 20) * 4);
      EXPECT_EQ(item.tokens_predicted, length - 64);
    }
  }
  EXPECT_EQ(most_distractors(frame(512)), 7);  // (1312 * 3/4 - 120) / 120
  EXPECT_EQ(most_distractors(frame()), 31);
}

TEST(Needle, StandsOnceWithItsCodeAndNoOther) {
  const Item item = make_needle(with(0), frame());
  check_prompt(item);
  ASSERT_EQ(item.sentences.size(), 1u);
  EXPECT_EQ(codes_in(text_of(item)), item.gold);
  EXPECT_NEAR(item.evidence[0].fraction, 0.5, 0.02);
  EXPECT_NEAR(double(item.evidence[0].from_start + item.evidence[0].from_end), 4096 - 84, 1);
  EXPECT_EQ(double(item.evidence[0].from_start),
            std::round(double(text_of(item).find(item.sentences[0])) / 4));
}

TEST(Needle, MoreDistractorsHoldTheFewerAtTheSamePlaces) {
  for (const int64_t length : {2048, 8192}) {
    const int64_t most = most_distractors(frame(length));
    const Item all = make_needle(with(most), frame(length));
    for (const int64_t k : {0, 1, 3, 7}) {
      const Item item = make_needle(with(k), frame(length));
      EXPECT_EQ(item.gold, all.gold);
      EXPECT_EQ(item.evidence[0].from_start, all.evidence[0].from_start);
      ASSERT_EQ(std::ssize(item.distractors), k);
      for (size_t i = 0; i < size_t(k); ++i) {
        EXPECT_EQ(item.distractors[i].code, all.distractors[i].code);
        EXPECT_EQ(text_of(item).find(item.distractors[i].code),
                  text_of(all).find(item.distractors[i].code));
      }
      EXPECT_EQ(codes_in(text_of(item)).size(), size_t(k) + 1);
      // what differs are the sentences in place of the distractors that are left out
      EXPECT_LT(difference(text_of(item), text_of(all)), 110 * (most - k));
    }
  }
}

TEST(Needle, DistractorsStandOnBothSidesAndNotNearIt) {
  for (const double fraction : {0.1, 0.3, 0.5, 0.9}) {
    Needle dials = with(31);
    dials.fraction = fraction;
    const Item item = make_needle(dials, frame());
    const auto needle = double(text_of(item).find(item.sentences[0]));
    int64_t before = 0;
    for (const auto& distractor : item.distractors) {
      const auto at = double(text_of(item).find(distractor.code));
      before += at < needle ? 1 : 0;
      EXPECT_GT(std::abs(at - needle) / double(text_of(item).size()), 0.02);
    }
    EXPECT_NEAR(double(before), 15.5, 1);
  }
}

TEST(Needle, SimilarityIsExactAndKeysAreDistinct) {
  double last = 0.0;
  for (const char* family : {"needle", "plain"}) {
    for (int64_t s = 0; s <= 4; ++s) {
      Needle dials = with(15);
      dials.family = family;
      dials.similarity = s;
      const Item item = make_needle(dials, frame());
      for (const auto& distractor : item.distractors) {
        EXPECT_EQ(distractor.similarity, s);
      }
      const auto codes = codes_in(text_of(item));
      EXPECT_EQ(std::set<std::string>(codes.begin(), codes.end()).size(), 16u);
      const double jaccard = std::stod(item.dials.at("jaccard"));
      EXPECT_GT(jaccard, s == 0 ? 0.2 : last);
      last = jaccard;
    }
  }
}

TEST(Needle, TheKeyStandsInNoOtherSentence) {
  for (int64_t index = 0; index < 20; ++index) {
    Needle dials = with(31);
    dials.index = index;
    dials.similarity = 4;
    const Item item = make_needle(dials, frame());
    const std::string opening = item.sentences[0].substr(3, item.sentences[0].find(" carries") - 3);
    const auto at = text_of(item).find(opening);
    EXPECT_EQ(text_of(item).find(opening, at + 1), std::string::npos);
  }
}

TEST(Needle, NearValuesDifferByOneSymbol) {
  Needle dials = with(31);
  dials.near_value = true;
  for (const Arm arm : {Arm::Main, Arm::Swap}) {
    dials.arm = arm;
    const std::string gold = make_needle(with(31), frame()).gold[0];
    const Item item = make_needle(dials, frame());
    for (const auto& distractor : item.distractors) {
      EXPECT_EQ(difference(distractor.code, gold), 1) << distractor.code;
      EXPECT_NE(distractor.code, item.gold[0]);
    }
  }
}

TEST(Needle, TheTwinDiffersInItsCodeAlone) {
  const Item main = make_needle(with(7), frame()), twin = make_needle(with(7, Arm::Swap), frame());
  EXPECT_NE(main.gold, twin.gold);
  EXPECT_LE(difference(text_of(main), text_of(twin)), 6);
  EXPECT_EQ(twin.arm, "swap");
}

TEST(Needle, WithoutEvidenceFillerStandsInItsPlace) {
  const Item main = make_needle(with(7), frame());
  const Item item = make_needle(with(7, Arm::NoEvidence), frame());
  EXPECT_TRUE(item.gold.empty());
  EXPECT_TRUE(item.evidence.empty());
  EXPECT_EQ(item.dials.at("withheld"), main.gold[0]);
  EXPECT_EQ(text_of(item).find(main.gold[0]), std::string::npos);
  EXPECT_LT(difference(text_of(main), text_of(item)), std::ssize(main.sentences[0]));
}

TEST(Needle, ShortAndAloneHaveNoFiller) {
  const Item main = make_needle(with(7), frame());
  const Item brief = make_needle(with(7, Arm::Short), frame());
  EXPECT_EQ(codes_in(text_of(brief)).size(), 8u);
  EXPECT_EQ(brief.gold, main.gold);
  EXPECT_LT(text_of(brief).size(), 1400u);
  const Item alone = make_needle(with(7, Arm::Alone), frame());
  EXPECT_TRUE(codes_in(text_of(alone)).empty());
  EXPECT_LT(text_of(alone).size(), 300u);
  EXPECT_EQ(text_of(alone).substr(22), text_of(main).substr(text_of(main).rfind('\n') + 1));
}

TEST(Needle, ReseedChangesTheFillerAndNothingElse) {
  const Item main = make_needle(with(7), frame()),
             item = make_needle(with(7, Arm::Reseed), frame());
  EXPECT_EQ(main.gold, item.gold);
  EXPECT_EQ(main.sentences, item.sentences);
  EXPECT_GT(difference(text_of(main), text_of(item)), 10000);
}

TEST(Needle, TheQuestionMayStandFirstOrInOtherWords) {
  Needle dials = with(0);
  dials.question_first = true;
  const Item first = make_needle(dials, frame());
  EXPECT_EQ(text_of(first).find("What code does "), 22u);
  EXPECT_TRUE(text_of(first).ends_with("Answer the question that stands before this text."));
  dials = with(0);
  dials.paraphrase = true;
  const Item other = make_needle(dials, frame());
  EXPECT_NE(text_of(other).find("Which identifier belongs to "), std::string::npos);
  EXPECT_LT(std::stod(other.dials.at("overlap")), 0.1);  // "the" alone
  EXPECT_GT(std::stod(first.dials.at("overlap")), 0.6);
}

TEST(Needle, SaysWhatDoesNotFit) {
  Needle dials = with(0);
  dials.family = "straw";
  EXPECT_THROW(make_needle(dials, frame()), Error);
  try {
    make_needle(with(31), frame(512));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Usage);
    EXPECT_NE(std::string(error.what()).find("fewer sentences"), std::string::npos);
  }
}

TEST(Frame, LeavesRoomForTheAnswerAndTheRest) {
  Frame made = frame(1000);
  made.calibration.tokens_per_byte = 0.3;
  // 1000 - 64 - 20 = 916 tokens are 3053.3 bytes
  EXPECT_EQ(made.haystack_bytes(53), 3000);
  EXPECT_EQ(made.haystack_bytes(5000), 0);
  EXPECT_EQ(made.predicted_tokens(3053), 936);
}

}  // namespace
}  // namespace gyre::accept
