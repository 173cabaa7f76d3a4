// Measures out of outcomes, against counts by hand.
#include "gyre/accept/quality/measures.h"

#include <gtest/gtest.h>

#include <cmath>

namespace gyre::accept {
namespace {

Judged outcome(int64_t bucket, int64_t index, bool right) {
  Judged out;
  out.slot = {bucket, index};
  out.verdict = right ? Verdict::Ok : Verdict::NoneSaid;
  return out;
}

CellRun run_of(const std::map<std::string, std::string>& dials, const std::vector<bool>& right) {
  CellRun run;
  run.cell.length = 4096;
  run.spec.task = "needle";
  run.spec.dials = dials;
  for (size_t i = 0; i < right.size(); ++i) {
    run.outcomes.push_back(outcome(0, static_cast<int64_t>(i), right[i]));
  }
  return run;
}

TEST(Effects, PairSlotsThatBothWereAsked) {
  const auto a = run_of({{"k", "0"}}, {true, true, true, true, false});
  const auto b = run_of({{"k", "7"}}, {true, false, false, true});
  const Measure out = paired_effect(a, b, "effect_k", "k 0 -> 7");
  EXPECT_EQ(out.n, 4);
  EXPECT_DOUBLE_EQ(out.value, -0.5);
  EXPECT_DOUBLE_EQ(out.p, 0.5);  // 2 lost, 0 won: 2 / 2^2
  EXPECT_EQ(out.says, "k 0 -> 7: of 4 pairs 2 lost, 0 won");
}

TEST(Effects, CompareCellsThatDifferInOneDial) {
  const std::vector<bool> right(6, true);
  std::vector<CellRun> runs{run_of({{"k", "0"}, {"s", "-"}}, right),
                            run_of({{"k", "7"}, {"s", "2"}}, right),
                            run_of({{"k", "7"}, {"s", "4"}}, right)};
  const auto out = dial_effects(runs);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(out[0].id, "effect_k");
  EXPECT_EQ(out[1].id, "effect_s");
  EXPECT_EQ(out[1].says, "s 2 -> 4: of 6 pairs 0 lost, 0 won");
  EXPECT_EQ(out[2].id, "effect_k");  // k 0 -> 7 again, at s = 4
}

TEST(Effects, NameTheSettingThatACellLeavesOut) {
  const std::vector<bool> right(6, true);
  std::vector<CellRun> runs{run_of({{"k", "7"}, {"s", "2"}}, right),
                            run_of({{"k", "7"}, {"s", "2"}, {"o", "none"}}, right),
                            run_of({{"k", "7"}, {"s", "2"}, {"qpos", "start"}}, right)};
  const auto out = dial_effects(runs);
  ASSERT_EQ(out.size(), 2U);
  EXPECT_EQ(out[0].says, "o full -> none: of 6 pairs 0 lost, 0 won");
  EXPECT_EQ(out[1].says, "qpos end -> start: of 6 pairs 0 lost, 0 won");
}

TEST(Effects, OtherTasksAreNeverPooled) {
  const std::vector<bool> right(6, true);
  std::vector<CellRun> runs{run_of({{"k", "0"}}, right), run_of({{"k", "7"}}, right)};
  runs[1].spec.task = "plain";
  EXPECT_TRUE(dial_effects(runs).empty());
}

TEST(Shares, CountWhatIsCutUnreadableAndFailed) {
  CellRun run = run_of({}, {true, true, true, true, true, true, true, true});
  run.outcomes[0].verdict = Verdict::Cut;
  run.outcomes[1].verdict = Verdict::Format;
  run.outcomes[2].verdict = Verdict::Dump;
  run.outcomes[3].verdict = Verdict::Error;
  const auto out = verdict_shares({run}, 2, 4096);
  ASSERT_EQ(out.size(), 3U);
  EXPECT_DOUBLE_EQ(out[0].value, 1.0 / 8.0);
  EXPECT_DOUBLE_EQ(out[1].value, 2.0 / 8.0);
  EXPECT_DOUBLE_EQ(out[2].value, 1.0 / 8.0);
  EXPECT_EQ(out[1].says, "2 of 8");
}

TEST(Controls, TellGuessesInventionsAndDistractorsApart) {
  CellRun run = run_of({}, {true, false, false, false});
  run.cell.arm = "noev";
  run.cell.answered = 4;
  for (Judged& one : run.outcomes) {
    one.dials["withheld"] = "KX7-3QD";
  }
  run.outcomes[1].verdict = Verdict::WrongCode;
  run.outcomes[1].codes = {"KX7-3QD"};
  run.outcomes[2].verdict = Verdict::WrongCode;
  run.outcomes[2].codes = {"AAA-222"};
  run.outcomes[3].verdict = Verdict::Distractor;
  const auto out = guess_measures(run);
  EXPECT_EQ(out[0].id, "guess_rate");
  EXPECT_DOUBLE_EQ(out[0].value, 0.25);
  EXPECT_EQ(out[1].id, "hallucinated_code_rate");
  EXPECT_DOUBLE_EQ(out[1].value, 0.25);  // the withheld code is no invention
  EXPECT_EQ(out[2].id, "distractor_rate");
  EXPECT_DOUBLE_EQ(out[2].value, 0.25);
}

TEST(Gap, IsTheWholeLessTheProductOfItsSteps) {
  // Whole right in 1 of 4; steps right in 3 of 4 and 4 of 4: 0.25 - 0.75.
  const std::vector<Composed> items{
      {true, {true, true}}, {false, {true, true}}, {false, {true, true}}, {false, {false, true}}};
  const Measure out = composition_gap(items, run_of({}, {}), "2 steps");
  EXPECT_DOUBLE_EQ(out.value, -0.5);
  EXPECT_LT(out.lo, -0.5);
  EXPECT_GT(out.hi, -0.5);
  EXPECT_EQ(out.says, "1 of 4 wholes right; a gap below 0 is lost in composing");
}

TEST(Gap, HasAWidthWhenAllItemsAreAlike) {
  const Measure out = composition_gap({{true, {true}}, {true, {true}}}, run_of({}, {}), "1 step");
  EXPECT_EQ(out.value, 0.0);
  // 1 - n / (n + z^2) with n = 2, z = 1.959964.
  EXPECT_NEAR(out.lo, -3.841459 / 5.841459, 1e-6);
  EXPECT_NEAR(out.hi, 3.841459 / 5.841459, 1e-6);
}

TEST(Agreement, IsZeroForOneAnswerToAll) {
  CellRun run;
  for (int64_t i = 0; i < 20; ++i) {
    run.outcomes.push_back(outcome(0, i, i % 2 == 0));
    run.outcomes.back().dials["class"] = i % 2 == 0 ? "CONFLICT" : "CONSISTENT";
    run.outcomes.back().found = "CONFLICT KX7-3QD";
  }
  EXPECT_DOUBLE_EQ(agreement_measure(run).value, 0.0);
  for (Judged& one : run.outcomes) {
    one.found = one.dials["class"];
  }
  EXPECT_DOUBLE_EQ(agreement_measure(run).value, 1.0);
  for (Judged& one : run.outcomes) {
    one.found = "";  // no class is the wrong class
  }
  EXPECT_DOUBLE_EQ(agreement_measure(run).value, -1.0);
}

}  // namespace
}  // namespace gyre::accept
