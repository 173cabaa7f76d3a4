// Ratios by hand, the JSON and the table.
#include "gyre/bench/record.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gyre/bench/interleave.h"
#include "gyre/bench/options.h"

namespace gyre::bench {
namespace {

Record example() {
  Record record;
  record.what = "train";
  record.title = "A step";
  record.command = "gyre bench train";
  record.date = "2020-01-02 03:04 UTC";
  record.seconds = 12.0;
  record.machine = {.cpu = "a CPU",
                    .isa = "avx2",
                    .torch = "2.13.0",
                    .build_revision = "abc",
                    .peer = "",
                    .threads = 2};
  record.totals = {{"tokens_per_s", 1000.0}, {"mfu", kUnknown}};
  record.rows.push_back(time_row("step", "eager", {10.0, 12.0, 11.0}, {30.0, 33.0, 36.0}));
  record.rows.push_back(time_row("alone", "", {5.0}, {}));
  record.rows.back().series = "causal, D 64";
  record.rows.back().x = 512;
  record.profile = {{"aten::mm", 4.0, 2.5, 0.9, 120.0, 3.0, 0.5}, {"aten::t", 1.0, 0.01, 0.001}};
  record.notes = {"left out: something"};
  return record;
}

TEST(Ratio, OfMediansIsMedianOverMedian) {
  const Ratio found = ratio_of_medians({30.0, 33.0, 36.0}, {10.0, 12.0, 11.0});
  EXPECT_DOUBLE_EQ(found.value, 33.0 / 11.0);
  EXPECT_LE(found.ci95.lo, found.value);
  EXPECT_GE(found.ci95.hi, found.value);
  EXPECT_GE(found.ci95.lo, 30.0 / 12.0);  // no draw gives less
  EXPECT_LE(found.ci95.hi, 36.0 / 10.0);
}

// Pairs 1.0, 1.1 and 2.0; the medians of both lists would give 2 / 2.
TEST(Ratio, OfPairsIsTheMedianPair) {
  EXPECT_DOUBLE_EQ(median_of_ratios({1.0, 2.2, 4.0}, {1.0, 2.0, 2.0}).value, 1.1);
}

TEST(Ratio, OfNothingIsUnknown) {
  EXPECT_TRUE(std::isnan(ratio_of_medians({}, {1.0}).value));
  EXPECT_FALSE(ratio_of_medians({1.0}, {2.0}).ci95.known());
}

TEST(SetPeer, NotesATorchOtherThanOurs) {
  for (const char* same : {"torch 2.13.0", "torch 2.13.0+cpu", "fake 1.0", ""}) {
    Record record = example();
    set_peer(record, same);
    EXPECT_EQ(record.machine.peer, same);
    EXPECT_EQ(record.notes.size(), 1U) << same;
  }
  Record record = example();
  set_peer(record, "torch 2.12.1+cpu");
  ASSERT_EQ(record.notes.size(), 2U);
  EXPECT_EQ(record.notes.back(),
            "the peer runs torch 2.12.1+cpu, ours is linked with torch 2.13.0: the ratios compare "
            "two versions too");
  EXPECT_NE(to_text(record).find("\n" + record.notes.back() + "\n"), std::string::npos);
  EXPECT_NE(to_json(record).find(record.notes.back()), std::string::npos);
}

TEST(TimeRow, SaysHowManyTimesAsFast) {
  const Row row = time_row("step", "eager", {10.0, 12.0, 11.0}, {30.0, 33.0, 36.0});
  EXPECT_DOUBLE_EQ(row.ours, 11.0);
  EXPECT_DOUBLE_EQ(row.peer, 33.0);
  EXPECT_DOUBLE_EQ(row.ratio, 3.0);
  EXPECT_EQ(row.ratio_is, "times as fast");
}

TEST(BenchJson, HasTheKeysOthersRelyOn) {
  const auto json = nlohmann::json::parse(to_json(example()));
  EXPECT_EQ(json["schema"], "gyre.bench/1");
  EXPECT_EQ(json["what"], "train");
  EXPECT_EQ(json["command"], "gyre bench train");
  EXPECT_EQ(json["tokens_per_s"], 1000.0);
  EXPECT_TRUE(json["mfu"].is_null());
  EXPECT_EQ(json["machine"]["cpu"], "a CPU");
  EXPECT_EQ(json["machine"]["isa"], "avx2");
  EXPECT_TRUE(json["machine"]["peer"].is_null());
  const auto& row = json["rows"][0];
  EXPECT_EQ(row["what"], "step");
  EXPECT_EQ(row["ours"], 11.0);
  EXPECT_EQ(row["peer"], 33.0);
  EXPECT_EQ(row["ratio"], 3.0);
  EXPECT_EQ(row["unit"], "ms");
  EXPECT_EQ(row["samples"]["peer"].size(), 3U);
  EXPECT_FALSE(row.contains("x"));
  EXPECT_TRUE(json["rows"][1]["ratio"].is_null());
  EXPECT_EQ(json["rows"][1]["x"], 512.0);
  EXPECT_EQ(json["profile"][0]["roofline"], 0.5);
  EXPECT_EQ(json["notes"][0], "left out: something");
}

TEST(BenchTable, AlignsSidesAndDashesWhatIsMissing) {
  const std::string text = to_text(example());
  EXPECT_NE(text.find("a CPU; kernels avx2; 2 threads; torch 2.13.0; 12s"), std::string::npos)
      << text;
  EXPECT_NE(text.find("step   11.0  33.0  3.00 ("), std::string::npos) << text;
  EXPECT_NE(text.find("alone  5.00     -"), std::string::npos) << text;
  EXPECT_NE(text.find("aten::mm"), std::string::npos) << text;
  EXPECT_EQ(text.find("aten::t "), std::string::npos) << "half a percent and less is summed up";
  EXPECT_NE(text.find("left out: something"), std::string::npos) << text;
}

TEST(Interleave, AlternatesTheOrder) {
  std::string order;
  std::vector<Side> sides;
  for (const char* name : {"a", "b"}) {
    sides.push_back({name, [] { return 60.0; }, {}});
  }
  interleave(sides, 3, [&](const Side& side) { order += side.name; });
  EXPECT_EQ(order, "abbaab");
  EXPECT_EQ(sides[0].ms.size(), 3U);
}

// Ten steps of 5 ms fill a turn of 50 ms; their median counts once.
TEST(Interleave, RepeatsShortSteps) {
  int calls = 0;
  std::vector<Side> sides = {{"a", [&] { return ++calls == 1 ? 500.0 : 5.0; }, {}}};
  interleave(sides, 1);
  EXPECT_EQ(calls, 1);
  interleave(sides, 1);
  EXPECT_EQ(calls, 11);
  EXPECT_EQ(sides[0].ms, (std::vector<double>{500.0, 5.0}));
}

}  // namespace
}  // namespace gyre::bench
