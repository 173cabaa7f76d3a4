// Verdicts from cells, rungs and findings that a test writes down.
#include <gtest/gtest.h>

#include <cmath>

#include "gyre/accept/acceptance.h"

namespace gyre::accept {
namespace {

Rung rung(int64_t length, Status status) {
  Rung out;
  out.length = length;
  out.status = status;
  return out;
}

Cell cell(int64_t level, int64_t length, Status status) {
  Cell out;
  out.level = level;
  out.task = level == 2 ? "needle" : "join";
  out.length = length;
  out.status = status;
  out.asked = out.answered = 10;
  out.buckets = {{2, 2, 0, 0.5, 1.0}, {2, 1, 0, 0.1, 0.9}};
  return out;
}

Acceptance good() {
  Acceptance out;
  out.subject = "demo";
  out.options.lengths = {1024, 4096};
  out.options.levels = {1, 2};
  out.one.ran = out.one.able = true;
  out.one.rungs = {rung(1024, Status::Pass), rung(987, Status::Pass), rung(4096, Status::Pass)};
  out.cells = {cell(2, 1024, Status::Pass), cell(2, 4096, Status::Pass)};
  return out;
}

TEST(Conclude, AllPassedIsAPass) {
  Acceptance out = good();
  conclude(out);
  EXPECT_EQ(out.verdict, Status::Pass);
  EXPECT_EQ(out.effective_length, 4096);
  ASSERT_EQ(out.levels.size(), 3U);
  EXPECT_EQ(out.levels[2].status, Status::NotRun);
  EXPECT_EQ(out.levels[2].says, "not asked for");
  ASSERT_EQ(out.says.size(), 3U);
  EXPECT_EQ(out.says[0], "PASS: demo");
  EXPECT_EQ(out.says[1], "keeps the text: up to 4096 tokens. retrieves: up to 4096 tokens");
  EXPECT_EQ(out.says[2], "worst of level 2: needle, bucket 2 of 2 at 1024: 0.50 (0.10-0.90)");
  EXPECT_EQ(exit_status(out), 0);
}

TEST(Conclude, TasksThatTheModelCannotDoAreNamedOnce) {
  Acceptance out = good();
  for (int i = 0; i < 8; ++i) {
    Cell unable = cell(2, 512, Status::Undecided);
    unable.arm = "short";
    unable.says = i < 4 ? "not able: 0 of 10 right" : "not able: " + std::to_string(i) + " right";
    out.cells.push_back(unable);
  }
  conclude(out);
  EXPECT_EQ(out.levels[1].says,
            "up to 4096 tokens; needle: not able: 0 of 10 right (4 settings); needle: not able: 4 "
            "right; needle: not able: 5 right; and 2 more like it");
}

TEST(Conclude, EffectiveLengthNeedsEveryShorterOne) {
  Acceptance out = good();
  out.cells[0].status = Status::Fail;
  conclude(out);
  EXPECT_EQ(out.levels[1].effective_length, 0);
  EXPECT_EQ(out.levels[1].says, "at no length; fails at 1024");
  EXPECT_EQ(out.verdict, Status::Fail);
}

TEST(Conclude, AnOffGridRungCountsForItsLength) {
  Acceptance out = good();
  out.one.rungs[1].status = Status::Fail;
  conclude(out);
  EXPECT_EQ(out.effective_length, 0);
  EXPECT_EQ(out.levels[0].status, Status::Fail);
}

TEST(Conclude, AFaultFailsWhateverTheRest) {
  Acceptance out = good();
  out.findings.push_back({"TRUNC_HEAD", "the head is lost", {}, {}});
  conclude(out);
  EXPECT_EQ(out.verdict, Status::Fail);
  EXPECT_EQ(out.levels[0].status, Status::Fail);
  EXPECT_EQ(out.says[0], "FAIL: demo; TRUNC_HEAD, level 1 fails");
  EXPECT_EQ(exit_status(out), 1);
}

TEST(Conclude, ABandForbidsAnEffectiveLength) {
  Acceptance out = good();
  out.findings.push_back({"LENGTH_BAND", "some lengths fail", {}, {}});
  conclude(out);
  EXPECT_EQ(out.effective_length, 0);
  EXPECT_EQ(out.levels[1].effective_length, 0);
  EXPECT_TRUE(out.levels[0].says.starts_with("no effective length: some lengths fail between"));
}

TEST(Conclude, UndecidedSaysHowManyMore) {
  Acceptance out = good();
  out.cells[1].status = Status::Undecided;
  out.cells[1].needs_about = 40;
  conclude(out);
  EXPECT_EQ(out.verdict, Status::Undecided);
  EXPECT_EQ(out.levels[1].effective_length, 1024);
  EXPECT_NE(out.says[2].find("needs about 40 more items per bucket"), std::string::npos);
  EXPECT_EQ(exit_status(out), 1);
}

TEST(Conclude, CellsWithoutRoomCountNeitherWay) {
  Acceptance out = good();
  Cell none = cell(2, 1024, Status::NotRun);
  none.why_not_run = "no room: 31 distractors, but 12 fit in 1024 tokens";
  out.cells.push_back(none);
  conclude(out);
  EXPECT_EQ(out.verdict, Status::Pass);
}

TEST(Conclude, ALengthThatWasNotAskedLeavesTheLevelOpen) {
  Acceptance out = good();
  out.cells[1].status = Status::NotRun;
  out.cells[1].why_not_run = "stopped";
  conclude(out);
  EXPECT_EQ(out.levels[1].status, Status::Undecided);
  EXPECT_EQ(out.levels[1].says, "up to 1024 tokens; not asked at 4096");
}

TEST(Conclude, ALossAtTheOriginalLengthFails) {
  Acceptance out = good();
  out.regression.emplace();
  out.regression->pairs = 100;
  out.regression->status = Status::Fail;
  out.regression->says = "90 of 100 before, 70 after";
  conclude(out);
  EXPECT_EQ(out.verdict, Status::Fail);
  EXPECT_EQ(out.says[0], "FAIL: demo; worse than before at the original length");
  EXPECT_NE(out.says[2].find("before/after: 90 of 100"), std::string::npos);
}

TEST(Conclude, NothingRunIsNoVerdict) {
  Acceptance out;
  conclude(out);
  EXPECT_EQ(out.verdict, Status::NotRun);
  EXPECT_EQ(exit_status(out), 1);
}

TEST(Cost, SumsSamplesAndPricesThem) {
  Sample a, b;
  a.reply.prompt_tokens = 1000;
  a.reply.completion_tokens = 10;
  a.reply.total_ms = 1500;
  b.reply.fault = Fault::Server;
  b.attempt = 3;
  b.item.tokens_predicted = 500;
  Acceptance out = good();
  out.cost = cost_of({a, b});
  EXPECT_EQ(out.cost.requests, 4);
  EXPECT_EQ(out.cost.prompt_tokens, 1000);
  EXPECT_EQ(out.cost.answer_tokens, 10);
  EXPECT_EQ(out.cost.errors, 1);
  EXPECT_DOUBLE_EQ(out.cost.seconds, 1.5);
  conclude(out);
  EXPECT_TRUE(std::isnan(out.cost.money));
  out.options.price_in = 2.0;
  out.options.price_out = 10.0;
  conclude(out);
  EXPECT_NEAR(out.cost.money, 0.0021, 1e-12);
}

}  // namespace
}  // namespace gyre::accept
