// `gyre inspect`: exit codes, JSON, the page, faults of usage. Resolution has its own tests.
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/cli/verb.h"
#include "gyre/inspect/lint/rule.h"

namespace gyre::cli {

Action add_inspect(CLI::App& app);

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Outcome {
  int exit = -1;
  std::string out;
  std::string fault;
};

Outcome run_inspect(const std::string& arguments) {
  CLI::App app;
  const Action action = add_inspect(app);
  app.parse(arguments);
  Outcome outcome;
  ::testing::internal::CaptureStdout();
  try {
    outcome.exit = action();
  } catch (const Error& error) {
    outcome.exit = exit_code(error.code());
    outcome.fault = error.what();
  }
  outcome.out = ::testing::internal::GetCapturedStdout();
  return outcome;
}

std::string fixture(const std::string& name) {
  return (fs::path(GYRE_SOURCE_DIR) / "src/gyre/inspect/testdata" / name).string();
}

class CmdInspect : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = fs::temp_directory_path() / str("gyre-cmd-inspect-", ::getpid(), "-", info->name());
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string put(const std::string& name, const std::string& text) {
    write_file_atomic(dir_ / name, text);
    return (dir_ / name).string();
  }

  fs::path dir_;
};

TEST_F(CmdInspect, AGoodModelPasses) {
  const Outcome outcome = run_inspect(fixture("llama-3.1-8b.json"));
  EXPECT_EQ(outcome.exit, 0) << outcome.out;
  EXPECT_NE(outcome.out.find("llama3"), std::string::npos);
}

TEST_F(CmdInspect, AnErrorFailsTheCheck) {
  const std::string path = put("config.json", R"({"model_type": "llama", "hidden_size": 64,
      "num_attention_heads": 2, "num_hidden_layers": 1, "max_position_embeddings": 8192,
      "rope_scaling": {"rope_type": "yarm", "factor": 4.0}})");
  const Outcome outcome = run_inspect(path + " --json -");
  EXPECT_EQ(outcome.exit, 1);
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["schema"], "gyre.inspect/1");
  EXPECT_EQ(json["findings"][0]["severity"], "error");
}

TEST_F(CmdInspect, BadInputIsExitThree) {
  EXPECT_EQ(run_inspect(put("empty.json", "")).exit, 3);
  EXPECT_EQ(run_inspect((dir_ / "none").string()).exit, 3);
  EXPECT_EQ(run_inspect(dir_.string()).exit, 3);
}

TEST_F(CmdInspect, TwoPathsAreCompared) {
  const std::string llama = fixture("llama-3.1-8b.json");
  const Outcome same = run_inspect(llama + " " + llama);
  EXPECT_EQ(same.exit, 0) << same.out;
  EXPECT_NE(same.out.find("they agree"), std::string::npos);
  const Outcome other = run_inspect(llama + " " + fixture("qwen2.5-7b-yarn.json") + " --json -");
  EXPECT_EQ(other.exit, 1);
  const Json json = Json::parse(other.out);
  EXPECT_EQ(json["schema"], "gyre.inspect-diff/1");
  EXPECT_EQ(json["agree"], false);
  EXPECT_FALSE(json["findings"].empty());
}

TEST_F(CmdInspect, ThePageHoldsSpectrumAndOrigins) {
  ::setenv("GYRE_PLOTLY_JS", put("stub.js", "window.Plotly = {};").c_str(), 1);
  const std::string page = (dir_ / "page.html").string();
  EXPECT_EQ(run_inspect(fixture("gemma-3-4b.json") + " --report " + page).exit, 0);
  const std::string text = read_file(page);
  EXPECT_NE(text.find("id=\"plot-spectrum-0\""), std::string::npos);
  EXPECT_NE(text.find("full_attention, without extension"), std::string::npos);
  EXPECT_NE(text.find("Gemma3TextConfig"), std::string::npos);
  EXPECT_EQ(text.find("src=\"http"), std::string::npos);
  EXPECT_EQ(run_inspect(fixture("gemma-3-4b.json") + " --report " + page).fault,
            page + " exists; give another --report or --force");
  ::unsetenv("GYRE_PLOTLY_JS");
}

TEST_F(CmdInspect, RulesTakeNoPathAndAReportIsAFile) {
  EXPECT_NE(run_inspect("--rules " + fixture("gemma-3-4b.json")).fault.find("takes no path, got '"),
            std::string::npos);
  EXPECT_NE(run_inspect(fixture("gemma-3-4b.json") + " --report -")
                .fault.find("--report writes a file, got '-'"),
            std::string::npos);
  EXPECT_NE(run_inspect("a b c").fault.find("one path, or two to compare; got 3"),
            std::string::npos);
}

TEST_F(CmdInspect, RulesAreListed) {
  const Outcome outcome = run_inspect("--rules --json -");
  EXPECT_EQ(outcome.exit, 0);
  EXPECT_EQ(Json::parse(outcome.out)["rules"].size(), gyre::inspect::rules().size());
}

TEST_F(CmdInspect, TextComparesTokenizers) {
  const fs::path data = fs::path(GYRE_SOURCE_DIR) / "src/gyre/model/tokenizer/testdata";
  const std::string a = (data / "llama3.json").string();
  const std::string b = (data / "smollm.json").string();
  const std::string text = " --text " + put("t.txt", "In 2024 they've gone.\n");
  const Outcome same = run_inspect(a + " " + a + text);
  EXPECT_EQ(same.exit, 0) << same.fault;
  EXPECT_NE(same.out.find("same ids throughout"), std::string::npos) << same.out;
  const Outcome other = run_inspect(a + " " + b + text + " --json -");
  EXPECT_EQ(other.exit, 1) << other.fault;
  const Json json = Json::parse(other.out);
  EXPECT_EQ(json["schema"], "gyre.inspect-text/1");
  EXPECT_EQ(json["bytes"], 22);
  EXPECT_EQ(json["same_ids"], false);
  EXPECT_EQ(json["cuts_compared"], true);
  EXPECT_TRUE(json["a"]["bits_per_byte"].is_null());
  EXPECT_NE(run_inspect(a + " " + b + text).out.find("stretches are cut differently"),
            std::string::npos);
  EXPECT_EQ(run_inspect(a + text).fault,
            "inspect: --text compares the tokenizers of two paths and goes with no --report; got 1 "
            "paths");
}

TEST_F(CmdInspect, FaultsOfUsage) {
  EXPECT_EQ(run_inspect("x --loss").fault,
            "inspect: --loss goes with --text FILE, the text to run models over");
  EXPECT_EQ(run_inspect("").fault,
            "inspect: which model? give a config.json, a model folder, a .safetensors or .gguf "
            "file or a run");
  const std::string llama = fixture("llama-3.1-8b.json");
  EXPECT_EQ(run_inspect(llama + " " + llama + " --report x.html").fault,
            "inspect: --report goes with one path, got two");
}

}  // namespace
}  // namespace gyre::cli
