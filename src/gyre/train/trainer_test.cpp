// Whole runs on a small corpus: results, resuming bit for bit, refusals, faults.
#include "gyre/train/trainer.h"

#include <fstream>
#include <set>

#include "gyre/base/progress.h"
#include "gyre/train/checkpoint.h"
#include "gyre/train/guard.h"
#include "gyre/train/run_testing.h"

namespace gyre::train {
namespace {

namespace fs = std::filesystem;
using data::error_of;
using data::expect_contains;
using data::TestFolder;

/// The Ctrl-C flag, cleared at the end.
struct InterruptFlag {
  explicit InterruptFlag(bool value) { set_interrupted(value); }
  ~InterruptFlag() { set_interrupted(false); }
};

TEST(Run, LearnsAndWritesItsRecord) {
  const TestFolder folder;
  const RunSetup setup = small_setup(folder, "run");
  const RunResult result = run(setup);
  EXPECT_EQ(result.steps, 24);
  EXPECT_EQ(result.tokens, 24 * 4 * 32);
  EXPECT_EQ(result.alpha_params, 8);
  EXPECT_LT(result.val_loss, std::log(257.0));
  EXPECT_GT(result.mfu, 0.0);
  const std::vector<double> losses = losses_of(setup.out);
  ASSERT_EQ(losses.size(), 24U);
  EXPECT_LT(losses.back(), losses.front() - 0.5);
  for (const char* name : {"config.json", "manifest.json", "frequencies.jsonl", "train.json",
                           "checkpoints/24/model.safetensors", "checkpoints/24/state.json"}) {
    EXPECT_TRUE(fs::exists(setup.out / name)) << name;
  }
  std::istringstream lines(read_file(setup.out / "frequencies.jsonl"));
  std::vector<nlohmann::json> frequencies;
  for (std::string line; std::getline(lines, line);) {
    frequencies.push_back(nlohmann::json::parse(line));
  }
  ASSERT_EQ(frequencies.size(), 25U);  // step 0 and every logged step
  EXPECT_EQ(frequencies[0].at("alpha"), std::vector<double>(8, 0.0));
  EXPECT_EQ(frequencies[0].at("inv_freq")[0][0][0], 1.0);
  EXPECT_NE(frequencies[24].at("alpha"), frequencies[0].at("alpha"));
}

TEST(Run, AgainReadsTheResult) {
  const TestFolder folder;
  const RunSetup setup = small_setup(folder, "run");
  const RunResult first = run(setup);
  const RunResult again = run(setup);
  EXPECT_FALSE(first.finished_before);
  EXPECT_TRUE(again.finished_before);
  EXPECT_EQ(result_to_json(first), result_to_json(again));
}

TEST(Run, ResumedEqualsUninterruptedBitForBit) {
  const TestFolder folder;
  for (const char* scheme : {"rope", "lerope:share=head"}) {
    const RunSetup whole = small_setup(folder, str(scheme, "-whole"), scheme);
    const RunResult expected = run(whole);
    RunSetup setup = small_setup(folder, str(scheme, "-stopped"), scheme);
    for (int i = 0; i < 3; ++i) {  // three interruptions, one step each
      const InterruptFlag flag(true);
      EXPECT_THROW(run(setup), Interrupted);
      setup.resume = true;
    }
    EXPECT_EQ(losses_of(setup.out).size(), 3U);
    const RunResult result = run(setup);
    EXPECT_EQ(result.val_loss, expected.val_loss) << scheme;
    EXPECT_EQ(losses_of(setup.out), losses_of(whole.out)) << scheme;
  }
}

TEST(Run, ResumesBehindTheLastCheckpointAfterAKill) {
  const TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  setup.train.checkpoint_every = 5;
  run(setup);
  const std::vector<double> expected = losses_of(setup.out);
  std::set<std::string> kept;
  for (const auto& entry : fs::directory_iterator(setup.out / "checkpoints")) {
    kept.insert(entry.path().filename());
  }
  EXPECT_EQ(kept, (std::set<std::string>{"20", "24"}));
  // As if killed at step 22: no result, no checkpoint 24, a torn metric line, a torn checkpoint.
  fs::remove(setup.out / "train.json");
  fs::remove_all(setup.out / "checkpoints/24");
  fs::create_directories(setup.out / "checkpoints/.writing-22");
  std::ofstream(setup.out / "metrics.jsonl", std::ios::app) << R"({"schema":"gyre.met)";
  run(setup);
  EXPECT_EQ(losses_of(setup.out), expected);
}

TEST(Run, InterruptedSaysHowToGoOn) {
  const TestFolder folder;
  const RunSetup setup = small_setup(folder, "run");
  data::open_dataset(setup.data);  // preparing data stops at Ctrl-C too, and earlier
  const InterruptFlag flag(true);
  const std::string text = error_of(Code::CheckFailed, [&] { run(setup); });
  expect_contains(text, "stopped at step 1 of 24; saved");
  expect_contains(text, "--resume");
}

TEST(Run, RefusesAnotherConfiguration) {
  const TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  const double first = run(setup).val_loss;
  setup.train.lr = 0.001;
  expect_contains(error_of(Code::Usage, [&] { run(setup); }),
                  "started with --lr 0.004, now 0.001; give --lr 0.004 to go on, another --out, or "
                  "--force to start over");
  setup.force = true;
  EXPECT_NE(run(setup).val_loss, first);
}

TEST(Run, ResumeNeedsSomethingToResume) {
  const TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  setup.resume = true;
  expect_contains(error_of(Code::Usage, [&] { run(setup); }), "nothing to resume here");
}

TEST(Run, LeavesForeignFoldersAlone) {
  const TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  folder.write("run/thesis.txt", "important");
  expect_contains(error_of(Code::Usage, [&] { run(setup); }),
                  "exists and is not a run directory; choose another --out");
  setup.force = true;
  error_of(Code::Usage, [&] { run(setup); });
  EXPECT_TRUE(fs::exists(folder / "run/thesis.txt"));
}

TEST(Run, StopsOnASpikeWithADiagnosis) {
  const TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  setup.train.tokens *= 3;
  setup.train.lr = 30.0;  // diverges at once
  setup.train.clip = 0.0;
  setup.train.spike = 1e-3;
  const std::string text = error_of(Code::CheckFailed, [&] { run(setup); });
  expect_contains(text, "try a lower --lr");
  ASSERT_TRUE(fs::exists(setup.out / "failures"));
  const fs::path file = fs::directory_iterator(setup.out / "failures")->path();
  const auto record = nlohmann::json::parse(read_file(file));
  EXPECT_EQ(record.at("schema"), "gyre.failure/1");
  EXPECT_EQ(record.at("batch_index").get<int64_t>() + 1, record.at("step").get<int64_t>());
  EXPECT_FALSE(fs::exists(setup.out / "train.json"));
}

TEST(Run, RefusesAVocabularySmallerThanTheTokenizers) {
  const TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  setup.model.vocab = 100;
  expect_contains(error_of(Code::Usage, [&] { run(setup); }),
                  "--vocab 100 is smaller than the tokenizer's 257");
  EXPECT_FALSE(fs::exists(setup.out));  // nothing half written
}

TEST(Run, NeedsAFolder) {
  const TestFolder folder;
  RunSetup setup = small_setup(folder, "run");
  setup.out.clear();
  EXPECT_EQ(error_of(Code::Usage, [&] { run(setup); }), "--out is needed: the folder of the run");
}

TEST(LossGuard, NoticesWhatIsWrong) {
  LossGuard guard(2.0);
  EXPECT_EQ(guard.notice(1e9), "");  // no mean yet
  LossGuard settled(2.0);
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(settled.notice(3.0), "");
  }
  EXPECT_EQ(settled.notice(4.9), "");
  EXPECT_EQ(settled.notice(5.3), "the loss jumped above its running mean by more than --spike");
  EXPECT_EQ(settled.notice(std::nan("")), "the loss is not finite");
}

}  // namespace
}  // namespace gyre::train
