// From run directories to compare.json, table and sentences. Losses are chosen so that the expected
// numbers can be worked out by hand.
#include "gyre/study/comparison.h"

#include "gyre/study/fixtures.h"
#include "gyre/study/folder.h"
#include "gyre/study/overhead.h"

namespace gyre::study {
namespace {

using Json = nlohmann::ordered_json;

class Compare : public FakeStudy {
 protected:
  void add_all() {
    const struct {
      const char* scheme;
      double first, second, longer;
    } arms[] = {{"rope", 2.000, 2.100, 3.0},
                {"prope:p=0.75", 1.999, 2.102, 2.8},
                {"nope", 2.500, 2.601, 2.5},
                {"lerope", 1.899, 2.000, 3.1}};
    for (const auto& arm : arms) {
      for (const int64_t seed : {1, 2}) {
        FakeRun run = fake_run(arm.scheme, seed, seed == 1 ? arm.first : arm.second);
        run.long_loss = arm.longer;
        run.last_alpha = 0.5;
        run.dominant = seed == 1 ? 3 : 4;
        add(run);
      }
    }
  }
  Comparison made() {
    Comparison out = summarize(study_);
    add_words(out);
    add_quoted(out);
    return out;
  }
};

TEST_F(Compare, EveryKeyOfTheContractIsThere) {
  add_all();
  const Json json = Json::parse(to_json(made()));
  for (const char* key :
       {"schema",   "title", "command", "build_revision", "machine", "date",        "seconds",
        "settings", "arms",  "pairs",   "length_curve",   "needle",  "frequencies", "overhead",
        "quoted",   "cells", "verdict", "cannot_resolve", "limits",  "sources"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  for (const char* key : {"name", "scheme", "mask", "params", "alpha_params", "n_seeds",
                          "val_loss_mean", "val_loss_sd", "ppl", "bits_per_byte", "tokens_per_s",
                          "peak_rss_mib", "curve", "positions"}) {
    EXPECT_TRUE(json["arms"][0].contains(key)) << key;
  }
  for (const char* key :
       {"a", "b", "delta_nats", "ci95", "interval_over", "ci95_blocks", "sd_seeds", "n_seeds",
        "n_blocks", "p_value", "p_value_blocks", "seeds_needed", "verdict"}) {
    EXPECT_TRUE(json["pairs"][0].contains(key)) << key;
  }
  for (const char* key : {"arm", "seed", "initial", "final", "trajectory", "dominant", "suppressed",
                          "gathered", "learned"}) {
    EXPECT_TRUE(json["frequencies"][0].contains(key)) << key;
  }
  EXPECT_EQ(json["cells"].size(), 8);
  EXPECT_EQ(json["cells"][0]["dir"], "cells/rope-s1");
  EXPECT_EQ(json["cells"][0]["error"], nullptr);
  EXPECT_EQ(json["settings"]["params"], 1000);
}

TEST_F(Compare, ArmsAreMeansOverSeeds) {
  add_all();
  const Comparison c = made();
  const ArmSummary& rope = *c.find_arm("rope");
  EXPECT_NEAR(rope.val_loss_mean, 2.05, 1e-12);
  EXPECT_NEAR(rope.val_loss_sd, 0.1 / std::sqrt(2.0), 1e-12);
  EXPECT_NEAR(rope.ppl, std::exp(2.05), 1e-12);
  EXPECT_EQ(rope.n_seeds, 2);
  ASSERT_EQ(rope.positions.size(), 2);
  EXPECT_NEAR(rope.positions[1].loss, 1.85, 1e-12);
  EXPECT_EQ(rope.curves[0].step, (std::vector<int64_t>{1, 4}));
  EXPECT_EQ(c.find_arm("lerope")->alpha_params, 8);
}

TEST_F(Compare, PairsAgainstTheFirstArm) {
  add_all();
  const Comparison c = made();
  ASSERT_EQ(c.pairs.size(), 3);
  EXPECT_NEAR(c.find_pair("nope")->delta, 0.5005, 1e-12);
  EXPECT_EQ(c.find_pair("nope")->verdict, "worse");
  EXPECT_EQ(c.find_pair("lerope")->verdict, "better");
  EXPECT_EQ(c.find_pair("prope:p=0.75")->verdict, "no difference seen");
  EXPECT_EQ(c.find_pair("nope")->df, 3);
}

TEST_F(Compare, NeedleCountsArePooledAndLengthsWithoutALossAreLeftOut) {
  add_all();
  const Comparison c = made();
  EXPECT_EQ(c.needle[0].n, 128);
  EXPECT_NEAR(c.needle[0].accuracy, 80.0 / 128, 1e-12);
  EXPECT_NEAR(c.needle[0].worst_bucket_accuracy, 0.25, 1e-12);
  EXPECT_NEAR(c.needle[0].no_evidence_accuracy, 0.5, 1e-12);
  EXPECT_EQ(c.length_curve.size(), 8);  // four arms, two lengths
}

TEST_F(Compare, FrequenciesOfArmsThatRotate) {
  add_all();
  const Comparison c = made();
  ASSERT_EQ(c.frequencies.size(), 6);  // three arms rotate, two seeds
  const FrequencyUse& f = c.frequencies.back();
  EXPECT_EQ(f.arm, "lerope");
  EXPECT_TRUE(f.learned);
  EXPECT_NEAR(f.final[2] / f.initial[2], std::exp(0.5), 1e-12);
  // base 10000, 8 pairs: phase at 64 tokens is 10.19 * 10^(-m/2) turns, under 0.05 from m = 5.
  EXPECT_EQ(f.suppressed_initial, (std::vector<int64_t>{5, 6, 7}));
  EXPECT_EQ(f.trajectory.back().step, 4);
  ASSERT_EQ(c.consistency.size(), 1);
  EXPECT_NEAR(c.consistency[0].same_band, 0.5, 1e-12);
  EXPECT_NEAR(c.consistency[0].near_median, 1.0, 1e-12);
  const Json json = Json::parse(to_json(c));
  const Json& cut = json["frequencies"][2];  // prope: its slow pairs stand still
  EXPECT_EQ(cut["arm"], "prope:p=0.75");
  EXPECT_EQ(cut["trajectory"][0]["wavelength"][7], nullptr);
}

TEST_F(Compare, ShareOfTheGainOfLearning) {
  add_all();
  const Comparison c = made();
  const auto share = std::find_if(c.gain_shares.begin(), c.gain_shares.end(),
                                  [](const GainShare& g) { return g.arm == "prope:p=0.75"; });
  ASSERT_NE(share, c.gain_shares.end());
  // (2.05 - 2.0505) / (2.05 - 1.9495)
  EXPECT_NEAR(share->share, -0.0005 / 0.1005, 1e-9);
}

TEST_F(Compare, SentencesSayWhatWasComputed) {
  add_all();
  const Comparison c = made();
  ASSERT_EQ(c.verdict.size(), 2);
  EXPECT_TRUE(c.verdict[0].starts_with(
      "Against rope after 1,024 tokens at length 64 (2 paired seeds): lower validation loss for "
      "lerope (-0.1005 nats per token, 95 % interval "))
      << c.verdict[0];
  EXPECT_NE(c.verdict[0].find("higher loss for nope (+0.5005"), std::string::npos);
  EXPECT_NE(c.verdict[0].find("no difference seen for prope:p=0.75 (+0.0005"), std::string::npos);
  EXPECT_EQ(c.verdict[1],
            "Read in disjoint windows of 256 tokens, 4 times the training length, the losses are "
            "nope 2.500 (-0.050), prope:p=0.75 2.800 (+0.749), rope 3.000 (+0.950), lerope 3.100 "
            "(+1.151); in brackets the change from the training length.");
  std::string doubts;
  for (const std::string& line : c.cannot_resolve) {
    doubts += line + "\n";
  }
  EXPECT_NE(doubts.find("prope:p=0.75 against rope: the difference of +0.0005 nats lies within an "
                        "interval that holds zero"),
            std::string::npos)
      << doubts;
  EXPECT_NE(doubts.find("Differences below about 0.00"), std::string::npos) << doubts;
  EXPECT_NE(doubts.find("The dominant band of lerope is not the same in all runs (50 % share band"),
            std::string::npos)
      << doubts;
}

TEST_F(Compare, QuotedNumbersStandBesideOurs) {
  add_all();
  const Comparison c = made();
  EXPECT_EQ(c.quoted[0].value, "0.0066");
  EXPECT_EQ(c.quoted[0].licence, "CC BY 4.0");
  EXPECT_EQ(c.quoted[0].ours, "+0.1005 nats (lerope; better)");
  const Json json = Json::parse(to_json(c));
  EXPECT_EQ(json["quoted"][0]["value"], 0.0066);
  for (const Quoted& quoted : c.quoted) {
    EXPECT_NE(quoted.source.find("arXiv:"), std::string::npos);
  }
}

TEST_F(Compare, TheTableHasEveryArmAndFitsATerminal) {
  add_all();
  const std::string text = to_table(made());
  for (const char* part : {"arm", "nope", "95 % over seeds", "Needle ranking",
                           "Learned frequencies", "Cannot be resolved here", "seeds, pooled sd"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(Compare, FailedCellsStay) {
  add_all();
  add_failed("alibi", 1, "ended by signal 9 (Killed)");
  const Comparison c = made();
  EXPECT_TRUE(c.any_failed());
  EXPECT_EQ(c.cells.back().error, "ended by signal 9 (Killed)");
  EXPECT_EQ(c.find_arm("alibi"), nullptr);
  EXPECT_NE(to_table(c).find("alibi seed 1: ended by signal 9 (Killed)"), std::string::npos);
  EXPECT_NE(Json::parse(to_json(c))["cells"].back()["status"], "done");
}

TEST_F(Compare, WithoutTheFirstArmThereAreNoPairs) {
  add_failed("rope", 1, "broken");
  add(fake_run("nope", 1, 2.0));
  const Comparison c = made();
  EXPECT_TRUE(c.pairs.empty());
  EXPECT_NE(c.verdict[0].find("There is nothing to compare"), std::string::npos);
}

TEST_F(Compare, NoCompleteCellIsAnError) {
  add_failed("rope", 1, "disk full");
  try {
    made();
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "no cell is complete: disk full");
  }
}

TEST_F(Compare, AMissingKeyIsNamed) {
  FakeRun run = fake_run("rope", 1, 2.0);
  write_run(study_.out / "run", run);
  Json eval = fake_eval(run);
  eval["val"].erase("blocks");
  write_file_atomic(study_.out / "run" / "eval.json", eval.dump());
  try {
    read_cell(0, 1, study_.out / "run");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()), (study_.out / "run" / "eval.json").string() +
                                             ": val: no 'blocks'; make it again with --force");
  }
}

TEST(Thinned, KeepsBothEnds) {
  EXPECT_EQ(thinned(3, 60), (std::vector<size_t>{0, 1, 2}));
  const auto places = thinned(1000, 60);
  EXPECT_EQ(places.size(), 60);
  EXPECT_EQ(places.front(), 0);
  EXPECT_EQ(places.back(), 999);
  EXPECT_TRUE(thinned(0, 60).empty());
}

class Folder : public FakeStudy {
 protected:
  std::string message(const SharedSettings& settings, bool force = false) {
    try {
      const StudyFolder folder(study_.out, settings, force);
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Folder, AnotherConfigurationIsRefusedByName) {
  EXPECT_EQ(message({{"tokens", "100"}}), "no error");
  EXPECT_EQ(message({{"tokens", "100"}}), "no error");
  EXPECT_EQ(message({{"tokens", "200"}}),
            study_.out.string() +
                " holds a comparison with --tokens 100, this one has 200; use "
                "another --out, or --force to start over");
  EXPECT_EQ(message({{"tokens", "100"}, {"lr", "0.1"}}),
            study_.out.string() +
                " holds a comparison with --lr not given, this one has 0.1; use "
                "another --out, or --force to start over");
  std::filesystem::create_directories(study_.out / "cells" / "x");
  EXPECT_EQ(message({{"tokens", "200"}}, true), "no error");
  EXPECT_FALSE(std::filesystem::exists(study_.out / "cells"));
}

TEST_F(Folder, OtherPeoplesFilesAreNotTouched) {
  write_file_atomic(study_.out / "thesis.tex", "x");
  EXPECT_EQ(message({}), study_.out.string() +
                             " holds other files (thesis.tex); give an empty or new folder as "
                             "--out, or --force to add to this one");
  EXPECT_EQ(message({}, true), "no error");
  EXPECT_TRUE(std::filesystem::exists(study_.out / "thesis.tex"));
}

TEST_F(Folder, OneComparisonAtATime) {
  const StudyFolder folder(study_.out, {}, false);
  EXPECT_EQ(message({}), study_.out.string() +
                             " is in use by another gyre compare or one of its "
                             "cells; wait for it or use another --out");
}

}  // namespace
}  // namespace gyre::study
