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
  EXPECT_EQ(message_of("x --text hi --tokens 0"), "--tokens must be at least 1, got 0");
  EXPECT_EQ(message_of("x --text hi --dtype half"), "--dtype must be fp32 or bf16, got 'half'");
  EXPECT_EQ(message_of("x --text hi --top-p 2"), "--top-p must be in (0, 1], got 2");
}

}  // namespace
}  // namespace gyre::cli
