// `gyre phase`: the worked example, coverage, collisions, reach, faults of usage.
#include <gtest/gtest.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/cli/test_verb.h"

namespace gyre::cli {

Action add_phase(CLI::App& app);

namespace {

std::string output_of(const std::string& arguments) {
  CLI::App app;
  const Action action = add_phase(app);
  app.parse(arguments);
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(action(), 0);
  return ::testing::internal::GetCapturedStdout();
}

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_phase, arguments);
}

TEST(CmdPhase, WorkedExample) {  // P45
  const auto json = nlohmann::json::parse(output_of("--theta 1,0.1,0.01 --distance 32 --json -"));
  EXPECT_EQ(json["schema"], "gyre.phase/1");
  const double expected[] = {0.834, -0.998, 0.949};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(json["phase"][i]["cos"][32].get<double>(), expected[i], 5e-4);
    EXPECT_EQ(json["phase"][i]["cos"].size(), 33U);
  }
}

TEST(CmdPhase, CoverageCollisionsAndReach) {
  const auto json = nlohmann::json::parse(
      output_of("--base 10000 --pairs 32 --lengths 2k --collisions 100 --mask window:4 "
                "--distance 10 --json -"));
  EXPECT_EQ(json["coverage"][0]["never_completed"].front(), 21);  // 32 log(L / 2 pi) / log base
  EXPECT_EQ(json["collisions"].size(), 5U);
  EXPECT_EQ(json["reach"]["layers_needed"].back(), 4);  // ceil(10 / 3)
}

TEST(CmdPhase, SaysWhatAPhaseIsNot) {
  const std::string text = output_of("--distance 32");
  EXPECT_NE(text.find("cos at distance 32: 0.834223"), std::string::npos) << text;
  EXPECT_NE(text.find("Phase is not attention weight and not accuracy"), std::string::npos);
}

TEST(CmdPhase, CountsOneLayerAsOne) {
  const std::string near = output_of("--mask window:4 --distance 3");
  EXPECT_NE(near.find("distance 3 needs 1 layer\n"), std::string::npos) << near;
  const std::string far = output_of("--mask window:4 --distance 6");
  EXPECT_NE(far.find("distance 6 needs 2 layers\n"), std::string::npos) << far;
}

TEST(CmdPhase, WritesCsv) {
  const auto path = std::filesystem::temp_directory_path() / str("gyre-phase-", ::getpid(), ".csv");
  output_of("--theta 1 --distance 1 --csv " + path.string());
  EXPECT_EQ(read_file(path).substr(0, 30), "theta,distance,cos\r\n1,0,1\r\n1,1");
  EXPECT_EQ(message_of("--csv " + path.string()),
            path.string() + " exists; give another --csv or --force");
  output_of("--theta 0.5 --distance 1 --force --csv " + path.string());
  EXPECT_EQ(read_file(path).substr(0, 26), "theta,distance,cos\r\n0.5,0,");
  std::filesystem::remove(path);
}

TEST(CmdPhase, NamesWhatIsWrong) {
  for (const char* lengths : {"--lengths=", "--lengths \"\"", "--lengths ,", "--lengths 2k,"}) {
    EXPECT_EQ(message_of(lengths),
              "--lengths: expected numbers of tokens between commas, got nothing; e.g. 2048,128k")
        << lengths;
  }
  EXPECT_EQ(message_of("--theta 1 --base 100"), "phase: give --theta, or --base with --pairs");
  EXPECT_EQ(message_of("--theta -1"), "--theta: frequencies are 0 to 2 pi rad per token, got -1");
  EXPECT_EQ(message_of("--theta 1e300"),
            "--theta: frequencies are 0 to 2 pi rad per token, got 1e300");
  EXPECT_EQ(message_of("--theta 1,"), "--theta: expected numbers between commas, got '1,'");
  EXPECT_EQ(message_of("--theta ,"), "--theta: expected numbers between commas, got ','");
  EXPECT_EQ(message_of("--theta one"), "--theta: must be a number, got 'one'");
  EXPECT_EQ(message_of("--pairs 0"),
            "phase: --base must be above 1 and --pairs 1 to 4096, got 10000 and 0");
  EXPECT_EQ(message_of("--mask window:4 --layers 0"), "--layers must be 1 to 4096, got 0");
  EXPECT_EQ(message_of("--base 0.5"),
            "phase: --base must be above 1 and --pairs 1 to 4096, got 0.5 and 32");
  EXPECT_EQ(message_of("--distance 0"),
            "--distance and --collisions must lie in 1 to 1048576, got 0 and 0");
}

}  // namespace
}  // namespace gyre::cli
