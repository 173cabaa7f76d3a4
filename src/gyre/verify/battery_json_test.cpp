// JSON and terminal text of a small verification made by hand.
#include "gyre/verify/battery_json.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

namespace gyre::verify {
namespace {

Verification small() {
  Verification v;
  Check good{"good", "P02", "Good holds", "by hand", {}};
  good.result.passed = true;
  good.result.worst = 2e-13;
  good.result.tolerance = 1e-12;
  good.result.where = "m=1";
  good.result.curves = {{"curve", "x", "y", {0, 1}, {1, NAN}}};
  Check bad{"bad", "P14", "Bad does not", "by hand", {}};
  bad.result.worst = NAN;
  bad.result.where = "stopped: why";
  v.checks = {good, bad};
  v.precision = {{257}, {{"bfloat16 positions", "shortcut", {INFINITY}}}};
  v.faults = {{"caught", "one", {"bad"}}, {"missed", "two", {}}};
  return v;
}

TEST(VerificationJson, HoldsTheContract) {
  const auto json = nlohmann::json::parse(to_json(small()));
  EXPECT_EQ(json["schema"], "gyre.verify/1");
  EXPECT_EQ(json["passed"], false);
  EXPECT_EQ(json["checks"][0]["id"], "good");
  EXPECT_EQ(json["checks"][0]["claim"], "P02");
  EXPECT_EQ(json["checks"][0]["passed"], true);
  EXPECT_EQ(json["checks"][0]["worst"], 2e-13);
  EXPECT_EQ(json["checks"][0]["tolerance"], 1e-12);
  EXPECT_EQ(json["checks"][0]["where"], "m=1");
  EXPECT_TRUE(json["checks"][0]["curves"][0]["y"][1].is_null());
  EXPECT_TRUE(json["checks"][1]["worst"].is_null());
  EXPECT_TRUE(json["precision"]["rows"][0]["worst"][0].is_null());
  EXPECT_EQ(json["faults"][0]["caught_by"][0], "bad");
}

TEST(VerificationText, NamesWhatFailed) {
  const std::string text = to_text(small());
  EXPECT_NE(
      text.find(
          "good                      P02                            2.0e-13   1.0e-12   ok\n"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("FAILED\n    Bad does not: stopped: why\n"), std::string::npos) << text;
  EXPECT_NE(text.find("missed                       NOTHING\n"), std::string::npos) << text;
  EXPECT_NE(text.find("gyre: 1 of 2 checks passed, 1 of 2 faults caught"), std::string::npos);
}

TEST(VerificationText, AFaultThatNeedsMoreTokensIsNeitherCaughtNorMissed) {
  Verification v = small();
  v.checks.pop_back();
  v.faults.back().needs_tokens = 512;
  EXPECT_TRUE(passed(v));
  const std::string text = to_text(v);
  EXPECT_NE(text.find("missed                       not shown: needs more than 512 tokens\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(", 1 of 1 faults caught, 1 not shown in so few tokens in "),
            std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(to_json(v));
  EXPECT_EQ(json["faults"][1]["shown"], false);
  EXPECT_EQ(json["faults"][1]["needs_more_tokens_than"], 512);
  EXPECT_EQ(json["faults"][0]["shown"], true);
  EXPECT_TRUE(json["faults"][0]["needs_more_tokens_than"].is_null());
}

TEST(VerificationText, AMissedFaultFailsTheWhole) {
  Verification v = small();
  v.checks.pop_back();
  EXPECT_FALSE(passed(v));
  v.faults.pop_back();
  EXPECT_TRUE(passed(v));
}

}  // namespace
}  // namespace gyre::verify
