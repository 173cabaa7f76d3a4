// Cells with a stand-in for the program: a shell script that writes the files a run leaves behind.
#include "gyre/study/cells.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/progress.h"
#include "gyre/study/process.h"

namespace gyre::study {
namespace {

namespace fs = std::filesystem;

class Cells : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() /
            ("gyre_cells_" + std::to_string(::getpid()) + "_" + info->name());
    fs::create_directories(root_);
    set_interrupted(false);
  }
  void TearDown() override {
    set_interrupted(false);
    fs::remove_all(root_);
  }

  // $1 verb, $2 run directory, $3 what to do.
  void write_program(const std::string& extra = "") {
    write_file_atomic(root_ / "program",
                      "#!/bin/sh\n"
                      "echo \"$1 $2\" >> " +
                          (root_ / "calls").string() + "\n" + extra +
                          "[ \"$3\" = bad ] && { echo 'gyre: loss is not finite'; exit 1; }\n"
                          "[ \"$3\" = crash ] && kill -9 $$\n"
                          "mkdir -p $2\n"
                          "[ \"$1\" = train ] && echo '{\"tokens\": 100}' > $2/metrics.jsonl\n"
                          "echo '{}' > $2/$1.json\n");
    fs::permissions(root_ / "program", fs::perms::owner_all);
  }

  CellPlan plan(const std::string& name, const std::string& what = "good", int64_t after = -1) {
    const std::string dir = (root_ / name).string();
    return {0, 1, name, dir, {"train", dir, what}, {"eval", dir, "good"}, after};
  }

  std::vector<CellResult> run(const std::vector<CellPlan>& plans, int64_t jobs = 2) {
    CellRunner runner;
    runner.program = root_ / "program";
    runner.jobs = jobs;
    runner.tokens = 100;
    runner.progress = [this](int64_t tokens, const std::string&) { tokens_ = tokens; };
    return runner.run(plans);
  }

  std::string calls() { return fs::exists(root_ / "calls") ? read_file(root_ / "calls") : ""; }

  fs::path root_;
  int64_t tokens_ = -1;
};

TEST_F(Cells, TrainThenEvaluateAndRecord) {
  write_program();
  const auto results = run({plan("a"), plan("b"), plan("c")});
  for (const CellResult& result : results) {
    EXPECT_EQ(result.status, CellStatus::Done) << result.error;
    EXPECT_GT(result.peak_rss_mib, 0.1);
    EXPECT_GT(result.seconds, 0);
  }
  EXPECT_TRUE(fs::exists(root_ / "a" / "eval.json"));
  EXPECT_TRUE(fs::exists(root_ / "a.json"));
  EXPECT_EQ(tokens_, 300);
  const std::string log = read_file(root_ / "a.log");
  EXPECT_NE(log.find("train " + (root_ / "a").string() + " good --threads=1"), std::string::npos)
      << log;
}

TEST_F(Cells, CompleteCellsAreNotRunAgain) {
  write_program();
  run({plan("a"), plan("b")});
  fs::remove(root_ / "calls");
  fs::remove(root_ / "b" / "eval.json");
  const auto results = run({plan("a"), plan("b")});
  EXPECT_EQ(results[0].status, CellStatus::Skipped);
  EXPECT_GT(results[0].peak_rss_mib, 0.1);
  EXPECT_EQ(results[1].status, CellStatus::Done);
  EXPECT_EQ(calls().find((root_ / "a").string()), std::string::npos);
}

TEST_F(Cells, OtherArgumentsAreAnotherCell) {
  write_program();
  run({plan("a")});
  CellPlan changed = plan("a");
  changed.eval.emplace_back("--needle-items=3");
  CellResult result;
  EXPECT_TRUE(read_finished(plan("a"), result));
  EXPECT_FALSE(read_finished(changed, result));
}

TEST_F(Cells, AFailureIsKeptAndTheOthersGoOn) {
  write_program();
  const auto results =
      run({plan("bad", "bad"), plan("crash", "crash"), plan("good"), plan("reader", "good", 0)});
  EXPECT_EQ(results[0].status, CellStatus::Failed);
  EXPECT_EQ(results[0].error, "loss is not finite");
  EXPECT_EQ(results[1].error, "ended by signal 9 (Killed); the system kills when memory runs out");
  EXPECT_EQ(results[2].status, CellStatus::Done);
  EXPECT_EQ(results[3].error, "not run: it reads the run of bad, which failed");
  EXPECT_NE(read_file(root_ / "bad.json").find("loss is not finite"), std::string::npos);
}

TEST_F(Cells, ACellThatReadsARunStartsAfterIt) {
  write_program();
  const auto results = run({plan("source"), plan("reader", "good", 0), plan("other")});
  EXPECT_EQ(results[1].status, CellStatus::Done);
  const std::string order = calls();
  EXPECT_LT(order.find("eval " + (root_ / "source").string()),
            order.find("train " + (root_ / "reader").string()));
}

TEST_F(Cells, CtrlCLetsChildrenSaveAndSaysHowToGoOn) {
  write_program(
      "[ \"$3\" = slow ] && { trap 'echo saved > $2.saved; exit 130' INT; "
      "echo up > $2.up; while :; do sleep 0.02; done; }\n");
  CellRunner runner;
  runner.program = root_ / "program";
  runner.jobs = 2;
  runner.progress = [this](int64_t, const std::string&) {
    if (fs::exists(root_ / "slow.up") && fs::exists(root_ / "a.json")) {
      set_interrupted(true);
    }
  };
  try {
    runner.run({plan("a"), plan("slow", "slow"), plan("never", "slow")});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "interrupted with 1 of 3 cells finished; the rest is saved and goes on with the "
                 "same command");
  }
  EXPECT_TRUE(fs::exists(root_ / "slow.saved"));
  EXPECT_FALSE(fs::exists(root_ / "slow.json"));
}

TEST_F(Cells, AProgramThatCannotStartIsNamed) {
  try {
    Process(root_ / "missing", {}, root_ / "log");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "cannot start " + (root_ / "missing").string() + ": No such file or directory");
  }
}

TEST_F(Cells, TokensComeFromTheLastWholeLine) {
  EXPECT_EQ(tokens_so_far(root_ / "none"), 0);
  write_file_atomic(root_ / "m", "{\"tokens\": 10}\n{\"tokens\": 20}\n{\"tok");
  EXPECT_EQ(tokens_so_far(root_ / "m"), 20);
  write_file_atomic(root_ / "m", std::string(9000, ' ') + "\n{\"tokens\": 70}\n");
  EXPECT_EQ(tokens_so_far(root_ / "m"), 70);
  write_file_atomic(root_ / "m", "{\"tokens\": 7}");
  EXPECT_EQ(tokens_so_far(root_ / "m"), 0);
}

}  // namespace
}  // namespace gyre::study
