// `gyre analyze`: faults of usage, without a model. The measurements have their own tests.
#include <gtest/gtest.h>

#include "gyre/base/error.h"
#include "gyre/cli/test_verb.h"

namespace gyre::cli {

Action add_analyze(CLI::App& app);

namespace {

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_analyze, arguments);
}

TEST(CmdAnalyze, NeedsAModelAndAFolder) {
  EXPECT_EQ(message_of(""),
            "analyze: which model? give a folder with config.json, a .gguf file or a run");
  EXPECT_EQ(message_of("some/model"), "analyze: where to? give a folder with --out DIR");
}

TEST(CmdAnalyze, SaysThatTextsTakeAllThatFollows) {
  EXPECT_EQ(message_of("--text a.txt some/model"),
            "analyze: which model? give a folder with config.json, a .gguf file or a run; it comes "
            "before --text, which takes all that follows");
}

TEST(CmdAnalyze, TheJsonPathIsCheckedBeforeTheModelIsRead) {
  EXPECT_EQ(message_of("no/model --out o --json nowhere/a.json"),
            "--json nowhere/a.json: there is no folder nowhere; make it or give another path");
}

TEST(CmdAnalyze, NeedsAText) {
  EXPECT_EQ(message_of("some/model --out o --no-builtin"),
            "analyze: no text; give --text FILE or leave out --no-builtin");
}

TEST(CmdAnalyze, OptionsAreCheckedBeforeTheModelIsRead) {
  EXPECT_EQ(message_of("some/model --out o --tokens 5"), "--tokens must be 32 to 4096, got 5");
}

TEST(CmdAnalyze, ComputesInTwoTypes) {
  EXPECT_EQ(message_of("some/model --out o --dtype fp8"),
            "--dtype must be fp32 or bf16, got 'fp8'");
}

TEST(CmdAnalyze, RunsOnTheCpu) {
  EXPECT_EQ(message_of("some/model --out o --device cuda"),
            "analyze: reads queries and keys on the CPU, got --device cuda; use --device cpu");
}

}  // namespace
}  // namespace gyre::cli
