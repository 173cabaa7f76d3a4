// Usage of gyre generate; what it says of real weights is tested in testing/real_models_test.py.
#include <gtest/gtest.h>

#include "gyre/cli/test_verb.h"

namespace gyre::cli {

Action add_generate(CLI::App& app);

namespace {

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_generate, arguments);
}

TEST(CmdGenerate, NamesWhatIsWrong) {
  EXPECT_EQ(message_of("--text hi --tokens 2 --top-k 0"),
            "generate: which model? give a folder with config.json, a .gguf file or a run");
  EXPECT_EQ(message_of("x"), "generate: give a prompt with --text; several make one batch");
  EXPECT_EQ(message_of("x --text hi --tokens 0"), "--tokens must be 1 to 10000000, got 0");
  EXPECT_EQ(message_of("x --text hi --tokens 1e8"),
            "--tokens must be 1 to 10000000, got 100000000");
  EXPECT_EQ(message_of("x --text hi --tokens 1e18"),
            "--tokens must be below 9e15 in size, got '1e18'");
  EXPECT_EQ(message_of("x --text hi --dtype half"), "--dtype must be fp32 or bf16, got 'half'");
  EXPECT_EQ(message_of("x --text hi --top-p 2"), "--top-p must be in (0, 1], got 2");
}

std::string configuration(const std::string& arguments) {
  CLI::App app;
  const Action action = add_generate(app);
  app.parse(arguments);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(action(), 0);
  return ::testing::internal::GetCapturedStdout();
}

TEST(CmdGenerate, PrintsItsWholeConfiguration) {
  const std::string text = configuration(
      "--text hi some/model --tokens 1e3 --dtype bf16 --top-k 5 --threads 2 --print-config");
  for (const char* line :
       {"Input.model = some/model\n", "Input.text = \"hi\"\n", "Output.tokens = 1000  (flag)\n",
        "Output.keep-on = false  (default)\n", "General.dtype = bf16  (flag)\n",
        "Sampling.top-k = 5  (flag)\n", "General.device = cpu\n", "General.threads = 2\n"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << text;
  }
}

TEST(CmdGenerate, TheModelMayFollowAPrompt) {
  const std::string text = configuration("--text a --text b some/model --print-config");
  EXPECT_TRUE(
      text.starts_with("Input.model = some/model\nInput.text = \"a\"\nInput.text = \"b\"\n"))
      << text;
}

TEST(CmdGenerate, TheJsonPathIsCheckedBeforeTheModelIsRead) {
  EXPECT_EQ(message_of("no/model --text hi --json nowhere/out.json"),
            "--json nowhere/out.json: there is no folder nowhere; make it or give another path");
  EXPECT_EQ(message_of("no/model --text hi --json ."),
            "--json .: is a folder; give the path of a file");
}

}  // namespace
}  // namespace gyre::cli
