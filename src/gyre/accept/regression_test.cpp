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
  const auto out = compare_runs(run_of(200, "a", {}), run_of(200, "b", {}));
  EXPECT_EQ(out.pairs, 200);
  EXPECT_EQ(out.both, 200);
  EXPECT_EQ(out.status, Status::Pass);  // lower bound -2.7055 / 202.7
  EXPECT_DOUBLE_EQ(out.p, 1.0);
  EXPECT_EQ(out.says,
            "200 of 200 items right before, 200 after: +0.0 points (-1.3 to +1.3, 90 %), 0 lost "
            "and 0 won, McNemar p = 1; margin 2.0 points");
}

TEST(Regression, FewItemsLeaveItOpen) {
  EXPECT_EQ(compare_runs(run_of(50, "a", {}), run_of(50, "b", {})).status, Status::Undecided);
}

TEST(Regression, ALossAboveTheMarginFailsAndNamesItsItems) {
  const auto after = run_of(60, "b", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9});
  const auto out = compare_runs(run_of(60, "a", {0}), after);
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
  EXPECT_EQ(compare_runs(before, run_of(10, "b", {})).pairs, 9);
}

TEST(Regression, RunsWithoutACommonItemSaySo) {
  const auto out = compare_runs({testing::a_sample(0)}, run_of(3, "b", {}));  // of the main arm
  EXPECT_EQ(out.status, Status::NotRun);
  EXPECT_EQ(out.says,
            "no item of the original length is in both runs; both need the same "
            "--original-length, --seed and levels 2 or 3");
}

TEST(Regression, AFolderWithoutARunIsRefused) {
  const testing::TempFolder folder;
  try {
    compare_with(folder / "none", {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::File);
    EXPECT_EQ(std::string(error.what()),
              (folder / "none").string() +
                  " holds no acceptance run; give the folder that gyre accept --out wrote");
  }
}

TEST(Regression, ReadsTheFolderOfTheEarlierRun) {
  const testing::TempFolder folder;
  {
    Record record(folder / "run", {{"seed", "1"}}, false);
    for (const Sample& sample : run_of(20, "a", {2})) {
      record.add(sample, true);
    }
  }
  const auto out = compare_with(folder / "run", run_of(20, "b", {}));
  EXPECT_EQ(out.pairs, 20);
  EXPECT_EQ(out.only_after, 1);
  EXPECT_EQ(out.before, (folder / "run").string());
}

TEST(NllDelta, IsTheMeanDifferenceWithAnInterval) {
  const std::vector<double> before{2.0, 3.0, 2.5, 2.7}, after{2.1, 3.2, 2.6, 2.8};
  const Measure out = nll_delta(before, after, 512);
  EXPECT_NEAR(out.value, 0.125, 1e-12);
  EXPECT_GE(out.lo, 0.1 - 1e-12);  // no resample leaves the range of the differences
  EXPECT_LE(out.hi, 0.2 + 1e-12);
  EXPECT_LT(out.lo, out.hi);
  EXPECT_EQ(out.n, 4);
}

TEST(NllDelta, ListsOfDifferentLengthAreABug) {
  const std::vector<double> one{1.0}, two{1.0, 2.0};
  try {
    nll_delta(one, two, 512);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), "nll delta: 1 texts before, 2 after");
  }
}

}  // namespace
}  // namespace gyre::accept
