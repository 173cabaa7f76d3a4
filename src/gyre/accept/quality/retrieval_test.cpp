// Level 2 against a subject whose truth is known: cells come out as it is, controls are asked, and
// every planned cell is reported.
#include <gtest/gtest.h>

#include "gyre/accept/fake_subject_testing.h"

namespace gyre::accept {
namespace {

using testing::FakeRun;
using testing::Manners;
using Dials = std::map<std::string, std::string>;

const Dials kBase{{"k", "7"}, {"s", "2"}};

AcceptOptions small(std::vector<int64_t> lengths = {2048, 4096}) {
  AcceptOptions options;
  options.lengths = std::move(lengths);
  options.levels = {2};
  options.looks = {8, 24};
  options.threshold = 0.7;
  return options;
}

FakeRun& run(FakeRun& fake) {
  run_retrieval(fake.bench);
  EXPECT_EQ(fake.subject.unknown, 0);
  conclude(fake.result);
  return fake;
}

int64_t bucket_of(const Item& item) {
  return std::stoll(item.dials.at("bucket"));
}

TEST(Retrieval, AGoodModelPassesEverywhere) {
  FakeRun fake(small(), {});
  run(fake);
  for (const int64_t length : {2048, 4096}) {
    const Cell& cell = fake.cell("needle", "main", length, kBase);
    EXPECT_EQ(cell.status, Status::Pass);
    EXPECT_EQ(cell.asked, cell.correct);
    EXPECT_EQ(cell.planned, 5 * 24);
    EXPECT_EQ(cell.buckets.size(), 5U);
    EXPECT_EQ(fake.measure("evidence_following", length, "needle k=7 s=2").value, 1.0);
    EXPECT_EQ(fake.measure("guess_rate", length, "needle k=7 s=2").value, 0.0);
    EXPECT_EQ(fake.measure("nuisance", length).value, 0.0);
  }
  EXPECT_EQ(fake.result.levels[1].status, Status::Pass);
  EXPECT_EQ(fake.result.levels[1].effective_length, 4096);
  EXPECT_EQ(fake.result.verdict, Status::Pass);
  EXPECT_EQ(exit_status(fake.result), 0);
}

TEST(Retrieval, TheThresholdIsFixedByTheShortBaseline) {
  FakeRun fake(small({2048}), {});
  run(fake);
  // 40 of 40 short items: lower bound 40 / (40 + 1.644854^2), 0.7 of it.
  const double lower = 40.0 / (40.0 + 2.705543);
  EXPECT_NEAR(fake.measure("baseline", 512, "needle k=7 s=2").lo, lower, 1e-6);
  EXPECT_NEAR(fake.cell("needle", "main", 2048, kBase).threshold, 0.7 * lower, 1e-6);
  EXPECT_EQ(fake.measure("baseline", 512, "needle k=7 s=2").says,
            "threshold 0.656 = 0.7 of the lower bound 0.937");
}

TEST(Retrieval, BothFamiliesAreReportedApart) {
  Manners manners;
  manners.right = [](const Item& item) {
    return item.task == "plain" && item.arm == "main" ? 0.1 : 1.0;
  };
  FakeRun fake(small({2048}), manners);
  run(fake);
  EXPECT_EQ(fake.cell("needle", "main", 2048, kBase).status, Status::Pass);
  EXPECT_EQ(fake.cell("plain", "main", 2048, {{"k", "7"}, {"s", "0"}}).status, Status::Fail);
  EXPECT_EQ(fake.result.levels[1].status, Status::Fail);
}

TEST(Retrieval, OneLostBucketFailsAndIsTheWorst) {
  Manners manners;
  manners.right = [](const Item& item) {
    return item.arm == "main" && item.length == 4096 && bucket_of(item) == 2 ? 0.2 : 1.0;
  };
  FakeRun fake(small(), manners);
  run(fake);
  const Cell& cell = fake.cell("needle", "main", 4096, kBase);
  EXPECT_EQ(cell.status, Status::Fail);
  EXPECT_EQ(cell.worst, 2);
  EXPECT_EQ(fake.result.levels[1].effective_length, 2048);
  EXPECT_EQ(exit_status(fake.result), 1);
  EXPECT_NE(fake.result.levels[1].worst.find("bucket 3 of 5 at 4096"), std::string::npos)
      << fake.result.levels[1].worst;
}

TEST(Retrieval, AWeakModelIsMeasuredAgainstItself) {
  Manners manners;
  manners.right = [](const Item&) { return 0.75; };
  FakeRun fake(small({2048}), manners);
  fake.options.threshold = 0.5;
  run(fake);
  EXPECT_NE(fake.cell("needle", "main", 2048, kBase).status, Status::Fail);
  EXPECT_TRUE(fake.result.findings.empty());
}

TEST(Retrieval, AModelThatIsNotAbleIsNotJudgedByLength) {
  Manners manners;
  manners.right = [](const Item&) { return 0.1; };
  FakeRun fake(small({2048}), manners);
  run(fake);
  const Cell& cell = fake.cell("needle", "main", 2048, kBase);
  EXPECT_EQ(cell.status, Status::NotRun);
  EXPECT_TRUE(cell.why_not_run.starts_with("not able at the original length: "))
      << cell.why_not_run;
  EXPECT_EQ(fake.result.levels[1].status, Status::Undecided);
}

TEST(Retrieval, FailedRequestsCountAndForbidAPass) {
  Manners manners;
  manners.fault = [](const Item& item) {
    const bool some = item.arm == "main" && item.index % 8 == 7;
    return some && bucket_of(item) == 4 ? Fault::Overflow : Fault::None;
  };
  FakeRun fake(small({2048}), manners);
  fake.options.threshold = 0.4;
  run(fake);
  const Cell& cell = fake.cell("needle", "main", 2048, kBase);
  EXPECT_EQ(cell.asked, 40);
  EXPECT_EQ(cell.answered, 39);
  EXPECT_DOUBLE_EQ(cell.accuracy_answered(), 1.0);
  EXPECT_DOUBLE_EQ(cell.accuracy_planned(), 39.0 / 40.0);
  EXPECT_EQ(cell.verdicts.at("error"), 1);
  EXPECT_EQ(cell.status, Status::Undecided);
  EXPECT_EQ(cell.says, "1 of 40 requests failed (2.5 %): no PASS above 2 %");
  EXPECT_GT(fake.measure("error_share", 2048).value, 0.02);
}

TEST(Retrieval, LengthsThatLevelOneFailedAreNotAsked) {
  FakeRun fake(small(), {});
  fake.result.one.ran = true;
  fake.result.one.able = true;
  Rung rung;
  rung.length = 4096 - 37;
  rung.status = Status::Fail;
  rung.says = "stripes 1-7 lost";
  fake.result.one.rungs = {rung};
  run(fake);
  EXPECT_EQ(fake.cell("needle", "main", 2048, kBase).status, Status::Pass);
  const Cell& cell = fake.cell("needle", "main", 4096, kBase);
  EXPECT_EQ(cell.status, Status::NotRun);
  EXPECT_EQ(cell.why_not_run, "level 1 failed at 4059 tokens: stripes 1-7 lost");
  EXPECT_EQ(cell.asked, 0);
  EXPECT_EQ(fake.result.levels[1].effective_length, 2048);
}

TEST(Retrieval, ACacheThatMixesTextsUpForbidsQuality) {
  FakeRun fake(small({2048}), {});
  fake.result.one.ran = true;
  fake.result.findings.push_back({"CACHE_DIVERGENCE", "", {}, {}});
  run(fake);
  EXPECT_EQ(fake.cell("needle", "main", 2048, kBase).why_not_run,
            "level 1: equal requests are answered differently by the cache");
}

TEST(Retrieval, GuessesWithoutEvidenceAreMeasured) {
  Manners manners;
  manners.guesses = [](const Item&) { return 1.0; };
  FakeRun fake(small({2048}), manners);
  run(fake);
  const Measure& guess = fake.measure("guess_rate", 2048, "needle k=7 s=2");
  EXPECT_EQ(guess.value, 1.0);
  EXPECT_EQ(guess.n, 40);
  EXPECT_EQ(fake.measure("alone_guess_rate", 512).value, 1.0);
}

TEST(Retrieval, EffectsArePairedByExactMcNemar) {
  Manners manners;
  manners.right = [](const Item& item) {
    return item.arm == "main" && item.dials.at("k") == "31" ? 0.5 : 1.0;
  };
  FakeRun fake(small({8192}), manners);
  run(fake);
  const Measure& none = fake.measure("effect_k", 8192, "needle k=7 s=2");
  EXPECT_EQ(none.value, 0.0);
  EXPECT_EQ(none.p, 1.0);
  // One of the two dials that differ has no value at k = 0, so 0 -> 31 is an effect of k alone.
  const Measure& many = fake.measure("effect_k", 8192, "needle k=31 s=4");
  EXPECT_LT(many.value, -0.3);
  EXPECT_LT(many.p, 1e-3);
}

TEST(Retrieval, ABudgetThatCutsAnswersIsRaised) {
  Manners manners;
  manners.needs_tokens = 4000;
  FakeRun fake(small({2048}), manners);
  run(fake);
  EXPECT_EQ(fake.result.answer_tokens, 4096);
  EXPECT_EQ(fake.cell("needle", "main", 2048, kBase).status, Status::Pass);
  EXPECT_EQ(fake.measure("cut_share", 2048).value, 0.0);
}

TEST(Retrieval, TooManyDistractorsForALengthAreNoFailure) {
  FakeRun fake(small({1024}), {});
  run(fake);
  const Cell& cell = fake.cell("needle", "main", 1024, {{"k", "31"}, {"s", "4"}});
  EXPECT_EQ(cell.status, Status::NotRun);
  EXPECT_TRUE(cell.why_not_run.starts_with("no room: 31 distractors, but ")) << cell.why_not_run;
  EXPECT_EQ(fake.result.levels[1].status, Status::Pass);
}

TEST(Retrieval, ADeadServerIsNotAskedCellByCell) {
  Manners manners;
  manners.fault = [](const Item& item) {
    return item.length > 2048 ? Fault::Connect : Fault::None;
  };
  FakeRun fake(small({2048, 4096, 8192}), manners);
  SessionOptions once;
  once.attempts = 1;
  Session session(fake.subject, fake.record, once);
  Bench bench{session, fake.options, fake.result, fake.bench.on_item};
  run_retrieval(bench);
  const auto& reason = fake.cell("needle", "main", 4096, kBase).why_not_run;
  EXPECT_EQ(reason, "all of 5 requests failed: connect: by the test");
  EXPECT_EQ(fake.cell("plain", "main", 8192, {{"k", "7"}, {"s", "0"}}).why_not_run,
            "the server does not answer any more: connect: by the test");
  EXPECT_LT(fake.subject.asked, 1200);
}

TEST(Retrieval, ARecordedRunComesOutTheSameWithoutAsking) {
  FakeRun fake(small({2048}), {});
  run(fake);
  const int64_t asked = fake.subject.asked;
  Acceptance again;
  again.options = fake.options;
  again.calibration = fake.result.calibration;
  Bench bench{fake.session, fake.options, again, fake.bench.on_item};
  run_retrieval(bench);
  EXPECT_EQ(fake.subject.asked, asked);
  ASSERT_EQ(again.cells.size(), fake.result.cells.size());
  for (size_t i = 0; i < again.cells.size(); ++i) {
    EXPECT_EQ(again.cells[i].correct, fake.result.cells[i].correct);
  }
}

TEST(Retrieval, AFifthOfTheBudgetGoesToControls) {
  AcceptOptions options;
  options.lengths = {2048};
  options.levels = {2};
  FakeRun fake(options, {});
  run(fake);
  int64_t main = 0, control = 0;
  for (const Cell& cell : fake.result.cells) {
    (cell.arm == "main" ? main : control) += cell.asked;
  }
  const double share = static_cast<double>(control) / static_cast<double>(main + control);
  EXPECT_GT(share, 0.1);
  EXPECT_LT(share, 0.4);
}

TEST(RetrievalSpecs, TheFullGridHasEveryDial) {
  AcceptOptions options;
  options.full_grid = true;
  // k = 0: paraphrase x question; five k x five s: paraphrase x question x value; six plain.
  EXPECT_EQ(retrieval_specs(options).size(), 4U + 25U * 8U + 6U);
}

}  // namespace
}  // namespace gyre::accept
