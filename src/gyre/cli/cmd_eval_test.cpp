// `gyre eval`: faults of usage, without a trained run. The measurements have their own tests.
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <fstream>

#include "gyre/base/error.h"
#include "gyre/cli/test_verb.h"

namespace gyre::cli {

Action add_eval(CLI::App& app);

namespace {

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_eval, arguments);
}

TEST(CmdEval, NeedsARun) {
  EXPECT_EQ(message_of(""), "eval: which run? give the folder that gyre train or compare wrote");
}

TEST(CmdEval, OutGoesWithOtherData) {
  EXPECT_EQ(message_of("some/run --out x.json"),
            "eval: --out goes with --data; the run's own corpus is recorded in some/run/eval.json");
}

TEST(CmdEval, RefusesToOverwriteOut) {
  const auto path = std::filesystem::temp_directory_path() / str("gyre-eval-", ::getpid(), ".json");
  std::ofstream(path) << "{}";
  EXPECT_EQ(message_of("some/run --data a.txt --out " + path.string()),
            path.string() + " exists; give another --out or --force");
  std::filesystem::remove(path);
}

TEST(CmdEval, BadLengthsAreNamed) {
  EXPECT_EQ(message_of("some/run --lengths 1x,2y"),
            "--lengths: '2y' is no length; give tokens (512) or training lengths (2x)");
}

TEST(CmdEval, ListsAreReadFromFlags) {
  CLI::App app;
  const Action action = add_eval(app);
  app.parse("--lengths 1x,3x --distractors 0,2 --print-config");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(action(), 0);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("lengths = [1x,3x]  (flag)"), std::string::npos) << text;
  EXPECT_NE(text.find("distractors = [0,2]  (flag)"), std::string::npos) << text;
  EXPECT_NE(text.find("needle-items = 128  (default)"), std::string::npos) << text;
}

}  // namespace
}  // namespace gyre::cli
