// Level 3 against a subject whose truth is known.
#include <gtest/gtest.h>

#include "gyre/accept/fake_subject_testing.h"

namespace gyre::accept {
namespace {

using testing::FakeRun;
using testing::Manners;

AcceptOptions small() {
  AcceptOptions options;
  options.lengths = {2048};
  options.levels = {3};
  options.looks = {12, 24};
  options.threshold = 0.7;
  return options;
}

void run(FakeRun& fake) {
  run_composition(fake.bench);
  EXPECT_EQ(fake.subject.unknown, 0);
  conclude(fake.result);
}

TEST(Composition, AGoodModelPassesEveryTask) {
  FakeRun fake(small(), {});
  run(fake);
  for (const char* task : {"join", "sum", "chain", "contradiction"}) {
    bool met = false;
    for (const Cell& cell : fake.result.cells) {
      if (cell.task == task && cell.arm == "main") {
        met = true;
        EXPECT_EQ(cell.status, Status::Pass) << task;
      }
    }
    EXPECT_TRUE(met) << task;
  }
  EXPECT_EQ(fake.measure("mcc", 2048).value, 1.0);
  EXPECT_EQ(fake.measure("composition_gap", 2048, "chain 3 steps").value, 0.0);
  EXPECT_EQ(fake.measure("accuracy_form_amended", 2048).value, 1.0);
  EXPECT_EQ(fake.measure("accuracy_h_4", 2048).value, 1.0);
  EXPECT_EQ(fake.measure("evidence_following", 2048, "join m=2-4").value, 1.0);
  EXPECT_EQ(fake.result.levels[2].status, Status::Pass);
}

TEST(Composition, AGapIsSeenWhenEveryStepIsRightAlone) {
  Manners manners;
  manners.right = [](const Item& item) {
    const bool whole = item.task == "chain" && item.arm == "main" && item.dials.at("only") == "0";
    return whole && item.dials.at("h") == "3" ? 0.0 : 1.0;
  };
  FakeRun fake(small(), manners);
  run(fake);
  const Measure& gap = fake.measure("composition_gap", 2048, "chain 4 steps");
  EXPECT_EQ(gap.value, -1.0);
  EXPECT_EQ(fake.measure("composition_gap", 2048, "chain 2 steps").value, 0.0);
  EXPECT_GE(gap.n, 2);
}

TEST(Composition, AlwaysTheSameClassIsHalfRightAndHasNoCorrelation) {
  Manners manners;
  manners.right = [](const Item& item) {
    const bool other = item.task == "contradiction" && item.dials.at("class") != "CONFLICT";
    return other ? 0.0 : 1.0;
  };
  FakeRun fake(small(), manners);
  run(fake);
  const auto cell = fake.cell("contradiction", "short", 512, {{"bucket", "distance"}});
  EXPECT_EQ(2 * cell.correct, cell.asked);
}

TEST(Composition, PlacesStandInDistinctBuckets) {
  for (int64_t index = 0; index < 20; ++index) {
    std::set<int64_t> buckets;
    for (const double place : places_from(3, index, 5, 1)) {
      EXPECT_GE(place, 0.0);
      EXPECT_LT(place, 1.0);
      buckets.insert(static_cast<int64_t>(place * 5));
    }
    EXPECT_EQ(buckets.size(), 5U);
  }
  EXPECT_EQ(static_cast<int64_t>(places_from(3, 9, 2, 1)[0] * 5), 3);
}

TEST(CompositionSpecs, TheFullGridHasEachNumberOfStepsApart) {
  AcceptOptions options;
  options.full_grid = true;
  EXPECT_EQ(composition_specs(options).size(), 6U + 4U + 1U);
}

}  // namespace
}  // namespace gyre::accept
