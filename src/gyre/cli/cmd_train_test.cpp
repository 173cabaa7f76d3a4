// `gyre train` and `gyre plan`: precedence of options, faults, output; whole runs are tested in
// train/.
#include <ATen/Context.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "gyre/attention/cuda/backend.h"
#include "gyre/base/error.h"
#include "gyre/cli/verb.h"

namespace gyre::cli {

Action add_train(CLI::App& app);
Action add_plan(CLI::App& app);

namespace {

using Add = Action (*)(CLI::App&);

/// What the verb prints, or the message of its Error.
std::string output_of(Add add, const std::string& arguments) {
  CLI::App app;
  const Action action = add(app);
  app.parse(arguments);
  ::testing::internal::CaptureStdout();
  std::string fault;
  try {
    EXPECT_EQ(action(), 0);
  } catch (const Error& error) {
    fault = error.what();
  }
  const std::string text = ::testing::internal::GetCapturedStdout();
  return fault.empty() ? text : fault;
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

TEST(CmdTrain, FlagsOverridePresetsOverrideDefaults) {
  const std::string text = output_of(
      add_train, "--preset h4 --width 100 --scheme lerope:share=head --print-config --tokens 2M");
  expect_contains(text, "Run.preset = h4  (flag)");
  expect_contains(text, "Run.scheme = lerope:share=head  (flag)");
  expect_contains(text, ".layers = 3  (preset)");
  expect_contains(text, ".width = 100  (flag)");
  expect_contains(text, "Training.length = 2048  (preset)");
  expect_contains(text, "Training.tokens = 2000000  (flag)");
  expect_contains(text, "Training.clip = 1  (default)");
  expect_contains(text, ".vocab = 0  (preset)");  // the tokenizer's
}

TEST(CmdTrain, PresetsBringTheirTokens) {
  // 10,000 steps of 512 x 8192 (arXiv:2410.06205).
  expect_contains(output_of(add_train, "--preset gemma2b-paper --print-config"),
                  "Training.tokens = 41943040000  (preset)");
}

TEST(CmdTrain, NamesTheDeviceThatIsNotThere) {
  expect_contains(output_of(add_train, "--device gpu --out x"),
                  "--device must be cpu or cuda, got 'gpu'");
  if (!attention::cuda::built()) {
    expect_contains(output_of(add_train, "--device cuda --out x"),
                    "--device cuda: gyre was built without the cuda preset; build it with: cmake "
                    "--preset cuda && cmake --build --preset cuda (docs/cuda.md), or use --device "
                    "cpu");
  } else if (!at::hasCUDA()) {
    expect_contains(output_of(add_train, "--device cuda --out x"),
                    "--device cuda: this build of torch sees no CUDA device; use --device cpu");
  }
}

TEST(CmdTrain, NamesWhatIsWrong) {
  expect_contains(output_of(add_train, "--preset tinny"), "did you mean 'tiny'?");
  EXPECT_EQ(output_of(add_train, "--scheme rope"), "--out is needed: the folder of the run");
  expect_contains(output_of(add_train, "--lr -1 --out nowhere"), "--lr must be positive, got -1");
  expect_contains(output_of(add_train, "--device tpu"), "--device must be cpu or cuda, got 'tpu'");
}

TEST(CmdPlan, WritesTheContractsKeys) {
  const auto plan =
      nlohmann::json::parse(output_of(add_plan, "--preset h8 --scheme lerope --gpus 8 --json -"));
  EXPECT_EQ(plan.at("schema"), "gyre.plan/1");
  EXPECT_EQ(plan.at("params"), 51'649'792 + 32);  // 12 C^2 N + 2 C V + norms, see config_test.cpp
  for (const char* key : {"flops", "bytes_per_gpu", "hours", "tokens"}) {
    EXPECT_GT(plan.at(key).get<double>(), 0.0) << key;
  }
}

TEST(CmdPlan, ModelOptionsOverrideThePreset) {
  const auto plan = nlohmann::json::parse(
      output_of(add_plan, "--preset h8 --layers 1 --vocab 257 --tokens 1M --json -"));
  EXPECT_EQ(plan.at("params"), 12 * 512 * 512 + 2 * 512 * 257 + (2 * 512 + 128) + 512);
}

TEST(CmdPlan, TinyNeedsTokens) {
  EXPECT_EQ(output_of(add_plan, "--preset tiny"),
            "preset tiny fixes no token count; give --tokens");
}

}  // namespace
}  // namespace gyre::cli
