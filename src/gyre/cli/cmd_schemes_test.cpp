// `gyre schemes`: the JSON list has every scheme with its options.
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/cli/test_verb.h"
#include "gyre/position/scheme.h"

namespace gyre::cli {

Action add_schemes(CLI::App& app);

namespace {

TEST(CmdSchemes, ListsEverySchemeAsJson) {
  const auto path =
      std::filesystem::temp_directory_path() / str("gyre-schemes-", ::getpid(), ".json");
  CLI::App app;
  const Action action = add_schemes(app);
  app.parse("--json " + path.string());
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(action(), 0);
  const std::string table = ::testing::internal::GetCapturedStdout();
  const auto json = nlohmann::json::parse(read_file(path));
  std::filesystem::remove(path);

  EXPECT_EQ(json["schema"], "gyre.schemes/1");
  ASSERT_EQ(json["schemes"].size(), position::schemes().size());
  for (const auto& scheme : json["schemes"]) {
    EXPECT_NE(table.find(scheme["name"].get<std::string>() + "\n  "), std::string::npos);
    EXPECT_FALSE(scheme["summary"].get<std::string>().empty());
    EXPECT_FALSE(scheme["formula"].get<std::string>().empty());
  }
  // One entry by hand: what `prope` offers.
  const auto& options = json["schemes"][1]["options"];
  EXPECT_EQ(json["schemes"][1]["name"], "prope");
  EXPECT_EQ(options[1]["name"], "p");
  EXPECT_EQ(options[1]["default"], "0.75");
  EXPECT_EQ(options[2]["choices"], nlohmann::json({"low", "high"}));
  EXPECT_NE(table.find("    cut=low "), std::string::npos) << table;
}

TEST(CmdSchemes, WritesThePlansOfSpecs) {
  CLI::App app;
  const Action action = add_schemes(app);
  app.parse(
      "--json - --plan linear:factor=2 --plan dynamic --head-dim 4 --layers 3 "
      "--train-length 16 --length 32");
  ::testing::internal::CaptureStdout();
  action();
  const auto json = nlohmann::json::parse(::testing::internal::GetCapturedStdout());
  ASSERT_EQ(json["plans"].size(), 2U);
  EXPECT_EQ(json["plans"][0]["spec"], "linear:factor=2");
  EXPECT_EQ(json["plans"][0]["plan"]["layers"][2]["inv_freq"][0][0], 0.5);
  EXPECT_EQ(json["plans"][0]["plan"]["layers"].size(), 3U);
  EXPECT_LT(json["plans"][1]["plan"]["layers"][0]["inv_freq"][0][1], 0.01);
}

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_schemes, arguments);
}

TEST(CmdSchemes, AsksWhereToWritePlans) {
  EXPECT_EQ(message_of("--plan rope"),
            "schemes: --plan writes JSON; say where: --json PATH or --json -");
}

TEST(CmdSchemes, RefusesShapesThatNoModelHas) {
  EXPECT_EQ(message_of("--plan rope --json - --layers -1"),
            "schemes: --layers must be 1 to 4096, got -1");
  EXPECT_EQ(message_of("--plan rope --json - --layers 99999999999"),
            "schemes: --layers must be 1 to 4096, got 99999999999");
  EXPECT_EQ(message_of("--plan rope --json - --heads 0"),
            "schemes: --heads must be 1 to 4096, got 0");
  EXPECT_EQ(message_of("--plan rope --json - --kv-heads 0"),
            "schemes: --kv-heads must be 1 to 4096, got 0");
  EXPECT_EQ(message_of("--plan rope --json - --head-dim 0"),
            "schemes: --head-dim must be 1 to 65536, got 0");
  EXPECT_EQ(message_of("--plan rope --json - --length -5"),
            "schemes: --length must be 0 to 1099511627776, got -5");
}

TEST(CmdSchemes, PrintsOnlyJsonWhenAskedForOnStdout) {
  CLI::App app;
  const Action action = add_schemes(app);
  app.parse("--json -");
  ::testing::internal::CaptureStdout();
  action();
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_TRUE(nlohmann::json::accept(text)) << text;
}

}  // namespace
}  // namespace gyre::cli
