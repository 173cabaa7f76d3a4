#include "gyre/accept/level1/seen.h"

#include <gtest/gtest.h>

#include "gyre/accept/level1/testing.h"

namespace gyre::accept {
namespace {

constexpr const char* kWhole = "xxxxxxxxxxxxxxxx";

TEST(Seen, ReadsWhichStripesCameBack) {
  EXPECT_EQ(testing::seen(kWhole).outcome, Outcome::Kept);
  const Seen half = testing::seen("........xxxxxxxx");
  EXPECT_EQ(half.outcome, Outcome::Lost);
  EXPECT_EQ(half.wrong(), 8);
  EXPECT_EQ(testing::seen("................").outcome, Outcome::Wrong);
}

TEST(Seen, OneWrongSymbolIsANearMiss) {
  Sample sample = testing::roll_call(kWhole);
  sample.reply.text.replace(sample.reply.text.find("KX7"), 3, "KX8");
  const Seen seen = see(sample, testing::four_bytes());
  EXPECT_EQ(seen.wrong(), 1);
  EXPECT_TRUE(seen.near_miss);
  EXPECT_FALSE(testing::seen(".xxxxxxxxxxxxxxx").near_miss);
}

TEST(Seen, AHeapOfCodesHasNoNumbers) {
  Sample sample = testing::roll_call(kWhole);
  sample.reply.text.clear();
  for (const std::string& code : sample.item.gold) {
    sample.reply.text += code + " ";
  }
  EXPECT_TRUE(see(sample, testing::four_bytes()).unnumbered);
  EXPECT_FALSE(testing::seen(kWhole).unnumbered);
}

TEST(Seen, OneAskedCodeAmongMoreThanTwoIsAHeap) {
  Sample sample = testing::roll_call(kWhole);
  const std::string all = sample.reply.text;
  sample.item.gold = {sample.item.gold[4]};
  const Seen heap = see(sample, testing::four_bytes());
  EXPECT_EQ(heap.outcome, Outcome::Wrong);
  EXPECT_TRUE(heap.degenerate);
  sample.reply.text = "The code is MNP-QRS.";
  EXPECT_EQ(see(sample, testing::four_bytes()).outcome, Outcome::Kept);
}

TEST(Seen, ThoughtsAreNoAnswer) {
  Sample sample = testing::roll_call(kWhole);
  sample.reply.text = "<think>\n" + sample.reply.text;
  sample.reply.finish = "length";
  const Seen cut = see(sample, testing::four_bytes());
  EXPECT_EQ(cut.outcome, Outcome::Empty);
  EXPECT_TRUE(cut.thinks_in_content);
  EXPECT_TRUE(cut.cut());
  sample.reply.text += "</think>\n" + testing::roll_call(kWhole).reply.text;
  EXPECT_EQ(see(sample, testing::four_bytes()).outcome, Outcome::Kept);
}

TEST(Seen, AnEmptyContentIsReadFromTheReasoning) {
  Sample sample = testing::roll_call(kWhole);
  sample.reply.reasoning.swap(sample.reply.text);
  const Seen seen = see(sample, testing::four_bytes());
  EXPECT_TRUE(seen.only_reasoning);
  EXPECT_EQ(seen.outcome, Outcome::Kept);
}

TEST(Seen, FaultsAreToldApart) {
  Sample sample = testing::roll_call(kWhole);
  const auto outcome = [&](Fault fault, int http) {
    sample.reply.fault = fault;
    sample.reply.http = http;
    return see(sample, testing::four_bytes()).outcome;
  };
  EXPECT_EQ(outcome(Fault::Overflow, 400), Outcome::Refused);
  EXPECT_EQ(outcome(Fault::Overflow, 200), Outcome::Refused);
  EXPECT_EQ(outcome(Fault::Overflow, 500), Outcome::Failed) << "a server error is no refusal";
  EXPECT_EQ(outcome(Fault::RateLimit, 429), Outcome::Rate);
  EXPECT_EQ(outcome(Fault::Connect, 0), Outcome::Failed);
}

TEST(Seen, CountsAreComparedOnlyAfterCalibration) {
  Sample sample = testing::roll_call(kWhole, 4000);
  sample.reply.prompt_tokens = 2048;
  EXPECT_TRUE(see(sample, testing::four_bytes()).counted_less());
  EXPECT_FALSE(see(sample, Calibration()).counted_less());
  sample.reply.prompt_tokens = 3890;  // within 3 %
  EXPECT_FALSE(see(sample, testing::four_bytes()).counted_less());
}

TEST(Gap, NamesTheSide) {
  const auto shape = [](const char* stripes) {
    return gap_of(testing::seen(stripes).stripes).shape;
  };
  EXPECT_EQ(shape(kWhole), Shape::Whole);
  EXPECT_EQ(shape(".......xxxxxxxxx"), Shape::Head);
  EXPECT_EQ(shape("xxxxxxxxxxxx...."), Shape::Tail);
  EXPECT_EQ(shape("xxxx.......xxxxx"), Shape::Middle);
  EXPECT_EQ(shape("x.xxx.x.xxxxxx.x"), Shape::Scattered);
  EXPECT_EQ(shape("....x...xxxxxxxx"), Shape::Head) << "one stray in a run";
  EXPECT_EQ(shape("................"), Shape::All);
}

TEST(Difference, IsTheLargestOverEqualTokensUntilTheTextsPart) {
  Reply a, b;
  a.top = {{{"x", -0.5}, {"y", -1.0}}, {{"z", -0.1}}, {{"q", -3.0}}};
  b.top = {{{"x", -0.5}, {"y", -1.25}}, {{"w", -0.1}}, {{"q", -9.0}}};
  EXPECT_DOUBLE_EQ(difference(a, b).value(), 0.25);
  EXPECT_FALSE(difference(a, Reply()).has_value());
}

}  // namespace
}  // namespace gyre::accept
