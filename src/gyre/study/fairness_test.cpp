// P23: arms that differ in anything but positions are refused, and the message names the field.
#include "gyre/study/fairness.h"

#include "gyre/study/fixtures.h"

namespace gyre::study {
namespace {

class Fairness : public FakeStudy {
 protected:
  void SetUp() override {
    FakeStudy::SetUp();
    add(fake_run("rope", 1, 2.0));
  }
  std::string message() {
    try {
      summarize(study_);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::CheckFailed);
      return error.what();
    }
    return "no error";
  }
  std::string with(const std::function<void(FakeRun&)>& change) {
    FakeRun run = fake_run("nope", 1, 2.1);
    change(run);
    add(run);
    return message();
  }
};

TEST_F(Fairness, ArmsThatDifferInPositionsAreFine) {
  EXPECT_EQ(with([](FakeRun&) {}), "no error");
}

TEST_F(Fairness, Tokens) {
  EXPECT_EQ(with([](FakeRun& run) { run.manifest.tokens = 2048; }),
            "unfair comparison: 'tokens' is 1024 in rope seed 1 and 2048 in nope seed 1; arms may "
            "differ in positions and mask only");
}

TEST_F(Fairness, Length) {
  EXPECT_NE(
      with([](FakeRun& run) { run.manifest.train_length = 128; }).find("'train_length' is 64"),
      std::string::npos);
}

TEST_F(Fairness, Batch) {
  EXPECT_NE(with([](FakeRun& run) { run.manifest.batch = 8; }).find("'batch' is 4"),
            std::string::npos);
}

TEST_F(Fairness, Corpus) {
  EXPECT_NE(with([](FakeRun& run) { run.manifest.corpus_hash = "c1"; }).find("'corpus_hash' is c0"),
            std::string::npos);
}

TEST_F(Fairness, Tokenizer) {
  EXPECT_NE(
      with([](FakeRun& run) { run.manifest.tokenizer_hash = "t1"; }).find("'tokenizer_hash' is t0"),
      std::string::npos);
}

TEST_F(Fairness, ComputeType) {
  EXPECT_NE(with([](FakeRun& run) { run.manifest.dtype = "bf16"; }).find("'dtype' is fp32"),
            std::string::npos);
}

TEST_F(Fairness, ModelShape) {
  EXPECT_NE(
      with([](FakeRun& run) { run.manifest.model.hidden = 99; }).find("'model hidden' is 384"),
      std::string::npos);
}

TEST_F(Fairness, TrainingOptions) {
  EXPECT_NE(with([](FakeRun& run) { run.options["lr"] = 0.1; }).find("'option lr' is 0.004"),
            std::string::npos);
}

TEST_F(Fairness, OptionsThatDoNotChangeARunMayDiffer) {
  EXPECT_EQ(with([](FakeRun& run) { run.options["log-every"] = 7; }), "no error");
}

TEST_F(Fairness, EvaluationText) {
  add(fake_run("nope", 1, 2.1));
  study_.records.back().val_tokens = 256;
  EXPECT_NE(message().find("'eval n_tokens' is 512"), std::string::npos);
}

TEST_F(Fairness, EvaluationBlocks) {
  add(fake_run("nope", 1, 2.1));
  study_.records.back().blocks.pop_back();
  EXPECT_NE(message().find("'eval blocks' is 8"), std::string::npos);
}

TEST_F(Fairness, SeedThatWasNotTheCells) {
  EXPECT_EQ(with([](FakeRun& run) { run.manifest.seed = 9; }),
            "unfair comparison: nope seed 1 was trained with seed 9");
}

TEST_F(Fairness, UnpairedSeeds) {
  add(fake_run("rope", 2, 2.0));
  add(fake_run("nope", 1, 2.1));
  EXPECT_EQ(message(),
            "unfair comparison: seed set: nope has no run with seed 2, other arms have; "
            "add it or leave that seed out");
}

TEST_F(Fairness, AFailedCellIsNoUnpairedSeed) {
  add(fake_run("rope", 2, 2.0));
  add(fake_run("nope", 1, 2.1));
  add_failed("nope", 2, "loss is not finite");
  EXPECT_EQ(message(), "no error");
}

TEST_F(Fairness, TheSameCellTwice) {
  add(fake_run("rope", 1, 2.0));
  EXPECT_EQ(message(), "unfair comparison: rope seed 1 is there twice");
}

}  // namespace
}  // namespace gyre::study
