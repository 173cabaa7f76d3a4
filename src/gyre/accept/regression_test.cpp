// The regression before/after against counts by hand; items pair whatever the subject.
#include "gyre/accept/regression.h"

#include <gtest/gtest.h>

#include <cmath>

#include "gyre/accept/record.h"
#include "gyre/accept/record_testing.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

std::vector<Sample> run_of(int64_t n, const std::string& subject, const std::vector<int64_t>& bad) {
  std::vector<Sample> out;
  for (int64_t i = 0; i < n; ++i) {
    Sample sample = testing::a_sample(i);
    sample.item.arm = "short";
    sample.item.dials["jaccard"] = subject;  // measured: may differ
    sample.item.sid = identity(sample.item, subject);
    out.push_back(sample);
  }
  for (const int64_t i : bad) {
    out[static_cast<size_t>(i)].verdict = Verdict::WrongCode;
  }
  return out;
}

TEST(Regression, NothingLostPassesWithEnoughItems) {
  const auto out = compare_runs(run_of(200, "a", {}), run_of(200, "b", {}), 512);
  EXPECT_EQ(out.pairs, 200);
  EXPECT_EQ(out.both, 200);
  EXPECT_EQ(out.status, Status::Pass);  // lower bound -2.7055 / 202.7
  EXPECT_DOUBLE_EQ(out.p, 1.0);
  EXPECT_EQ(out.says,
            "200 of 200 items right before, 200 after: +0.0 points (-1.3 to +1.3, 90 %), 0 lost "
            "and 0 won, McNemar p = 1; margin 2.0 points");
}

TEST(Regression, FewItemsLeaveItOpen) {
  EXPECT_EQ(compare_runs(run_of(50, "a", {}), run_of(50, "b", {}), 512).status, Status::Undecided);
}

TEST(Regression, ALossAboveTheMarginFailsAndNamesItsItems) {
  const auto after = run_of(60, "b", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto out = compare_runs(run_of(60, "a", {0}), after, 512);
  EXPECT_EQ(out.status, Status::Fail);
  EXPECT_EQ(out.only_before, 9);
  EXPECT_EQ(out.only_after, 0);
  EXPECT_EQ(out.neither, 1);
  EXPECT_NEAR(out.p, 2.0 / 512.0, 1e-12);
  ASSERT_EQ(out.lost.size(), 9U);
  EXPECT_EQ(out.lost[0], after[1].item.sid);
}

TEST(Regression, OnlyTheShortArmCounts) {
  auto before = run_of(10, "a", {});
  before[3].item.arm = "main";
  EXPECT_EQ(compare_runs(before, run_of(10, "b", {}), 512).pairs, 9);
}

TEST(Regression, RunsWithoutACommonItemSaySo) {
  const auto out =
      compare_runs({testing::a_sample(0)}, run_of(3, "b", {}), 512);  // of the main arm
  EXPECT_EQ(out.status, Status::NotRun);
  EXPECT_EQ(out.says,
            "no item of the original length is in both runs: one of them read answers and the "
            "other ranked candidates, or got no answer at all");
}

TEST(Regression, RankedItemsOfTheOriginalLengthCount) {
  const auto ranked = [](const std::string& subject, int64_t bad) {
    auto out = run_of(10, subject, {bad});
    for (Sample& sample : out) {
      sample.item.arm = "main";
      sample.item.form = AnswerForm::Ranking;
      sample.item.length = sample.item.index < 6 ? 512 : 4096;
    }
    return out;
  };
  const auto out = compare_runs(ranked("a", 8), ranked("b", 2), 512);
  EXPECT_EQ(out.pairs, 6);
  EXPECT_EQ(out.only_before, 1);  // index 2; the loss at index 8 is of a longer prompt
}

std::string refusal(const std::filesystem::path& before, const AcceptOptions& options,
                    const std::filesystem::path& out = "") {
  try {
    (void)Before(before, options, out);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Before, AFolderWithoutARunIsRefused) {
  const testing::TempFolder folder;
  EXPECT_EQ(refusal(folder / "none", {}),
            (folder / "none").string() +
                " holds no acceptance run; give the folder that gyre accept --out wrote");
}

TEST(Before, RunsThatCannotShareAnItemAreRefusedBeforeAnythingIsSent) {
  const testing::TempFolder folder;
  const std::string run = (folder / "run").string();
  {
    Record record(run, {{"seed", "1"}, {"levels", "[1,2]"}, {"original-length", "512"}}, false);
    record.add(run_of(1, "a", {})[0], true);
  }
  EXPECT_EQ(refusal(run, {}), "");
  AcceptOptions other;
  other.seed = 2;
  EXPECT_EQ(refusal(run, other), "accept: --before " + run +
                                     " was run with --seed 1, this run has 2: no item is in both; "
                                     "use --seed 1");
  AcceptOptions longer;
  longer.original_length = 1024;
  EXPECT_NE(refusal(run, longer).find("use --original-length 512"), std::string::npos);
  AcceptOptions third;
  third.levels = {1, 3};
  EXPECT_EQ(refusal(run, third), "accept: --before " + run +
                                     " and this run share neither level 2 nor level 3, whose short "
                                     "items are compared; add one with --levels");
  EXPECT_EQ(refusal(run, {}, run), "accept: --before and --out are the same folder " + run +
                                       "; give the new run a folder of its own");
}

TEST(Before, ReadsTheFolderOfTheEarlierRun) {
  const testing::TempFolder folder;
  {
    Record record(folder / "run", {{"seed", "1"}}, false);
    for (const Sample& sample : run_of(20, "a", {2})) {
      record.add(sample, true);
    }
  }
  const auto out = Before(folder / "run", {}, "").compare(run_of(20, "b", {}));
  EXPECT_EQ(out.pairs, 20);
  EXPECT_EQ(out.only_after, 1);
  EXPECT_EQ(out.before, (folder / "run").string());
}

}  // namespace
}  // namespace gyre::accept
