// `gyre verify`: a fault fails the battery, a scheme passes, faults of usage, the page.
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/cli/test_verb.h"
#include "gyre/report/verify_page.h"

namespace gyre::cli {

Action add_verify(CLI::App& app);

namespace {

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_verify, arguments);
}

TEST(CmdVerify, AnEmptyModelIsNotTheWholeBattery) {
  CLI::App app;
  const Action action = add_verify(app);
  app.parse(std::vector<std::string>{"", "--model"});  // last argument first
  try {
    action();
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "verify: --model is empty; give a folder with config.json, a .gguf "
                 "file or a run");
  }
}

TEST(CmdVerify, ASchemePasses) {
  CLI::App app;
  const Action action = add_verify(app);
  app.parse("--scheme prope:p=0.5 --json -");
  ::testing::internal::CaptureStdout();
  const int code = action();
  const auto json = nlohmann::json::parse(::testing::internal::GetCapturedStdout());
  EXPECT_EQ(code, 0);
  EXPECT_EQ(json["schema"], "gyre.verify/1");
  EXPECT_EQ(json["subject"], "scheme prope:p=0.5");
  EXPECT_EQ(json["checks"].size(), 5U);
}

TEST(CmdVerify, AFaultExitsOneAndSaysWhichCheck) {
  CLI::App app;
  const Action action = add_verify(app);
  app.parse("--scheme rope --fault wrong-pairing");
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(action(), 1);
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("plan-reference"), std::string::npos) << text;
  EXPECT_NE(text.find("FAILED"), std::string::npos) << text;
  EXPECT_NE(text.find("scheme rope with the fault wrong-pairing"), std::string::npos) << text;
}

TEST(CmdVerify, NamesWhatIsWrong) {
  EXPECT_EQ(message_of("--scheme rope --model x"), "verify: give --scheme or --model, not both");
  EXPECT_EQ(message_of("--device cuda"),
            "verify: compares with float64 on the CPU, got --device cuda; use --device cpu");
  EXPECT_EQ(message_of("--fault window"), "no fault 'window'; see: gyre verify --list");
  EXPECT_EQ(message_of("--tokens 1"), "--tokens must be 4 to 65536, got 1");
  EXPECT_EQ(message_of("--model x --dtype half"), "--dtype must be fp32 or bf16, got 'half'");
  EXPECT_EQ(message_of("--faults --fault bias-sign"),
            "verify: --faults runs every fault over the whole battery; leave out --fault");
  EXPECT_EQ(message_of("--scheme rope --fault bias-bf16"),
            "verify: the plan of rope cannot show the fault bias-bf16; leave out --scheme: the "
            "whole battery does");
}

TEST(CmdVerify, CountsAreReadLikeOtherCounts) {
  EXPECT_EQ(message_of("--model x --tokens 1e6"), "--tokens must be 4 to 65536, got 1000000");
  CLI::App app;
  const Action action = add_verify(app);
  try {
    app.parse("--tokens 1e18");
    FAIL();
  } catch (const CLI::ParseError& fault) {
    EXPECT_STREQ(fault.what(), "--tokens: must be below 9e15 in size, got '1e18'");
  }
}

TEST(CmdVerify, ChecksPathsBeforeItRuns) {
  EXPECT_EQ(message_of("--scheme rope --report nowhere/v.html"),
            "--report nowhere/v.html: there is no folder nowhere; make it or give another path");
  EXPECT_EQ(message_of("--scheme rope --json nowhere/v.json"),
            "--json nowhere/v.json: there is no folder nowhere; make it or give another path");
  EXPECT_EQ(message_of("--scheme rope --report . --force"),
            "--report .: is a folder; give the path of a file");
}

TEST(VerifyPage, IsSelfContained) {
  verify::Verification v;
  verify::Check check{"worked-phases", "P45", "Phases", "by hand", {}};
  check.result.passed = true;
  check.result.note = "a < b";
  check.result.curves = {{"phase theta=1", "distance", "cos", {0, 1}, {1, 0.54}}};
  v.checks = {check};
  v.faults = {{"bias-sign", "far keys rewarded", {"bias-scores"}}};
  const std::string page = report::verify_page(v, "/* plotly */");
  EXPECT_NE(page.find("a &lt; b"), std::string::npos);
  EXPECT_NE(page.find("phase is not attention weight and not accuracy"), std::string::npos);
  EXPECT_NE(page.find("data:text/csv"), std::string::npos);
  EXPECT_EQ(page.find("href=\"figures/"), std::string::npos);
  EXPECT_EQ(page.find("http://"), std::string::npos);
  EXPECT_NE(page.find("bias-scores"), std::string::npos);
}

}  // namespace
}  // namespace gyre::cli
