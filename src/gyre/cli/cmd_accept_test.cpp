// `gyre accept`: faults of usage, the plan, and runs of the program against the mock server.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "gyre/accept/mock_testing.h"
#include "gyre/accept/record_testing.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/cli/test_verb.h"

namespace gyre::cli {

Action add_accept(CLI::App& app);

namespace {

namespace fs = std::filesystem;
using accept::MockServer;
using accept::testing::TempFolder;
using Json = nlohmann::json;

std::string message_of(const std::string& arguments) {
  return cli::message_of(add_accept, arguments);
}

/// The program `gyre` with these arguments: exit code and both outputs.
struct Ran {
  int code = -1;
  std::string text;
};
Ran gyre(const std::string& arguments, const std::string& before = "") {
  const std::string command = before + " " GYRE_PROGRAM " " + arguments + " 2>&1";
  FILE* pipe = ::popen(command.c_str(), "r");
  Ran out;
  char text[4096];
  while (std::fgets(text, sizeof text, pipe) != nullptr) {
    out.text += text;
  }
  out.code = WEXITSTATUS(::pclose(pipe));
  return out;
}

TEST(CmdAccept, NeedsASubjectAndAFolder) {
  EXPECT_EQ(message_of(""),
            "accept: which subject? give --endpoint URL and --model NAME of a service, or --model "
            "PATH of a run, a model folder or a .gguf file");
  EXPECT_EQ(message_of("--endpoint http://h/v1"), "accept: where to? give a folder with --out DIR");
  EXPECT_EQ(message_of("show ab"), "accept show: which run? give its folder with --out DIR");
  EXPECT_EQ(message_of("show ab --out nowhere"),
            "nowhere holds no acceptance run; give the folder that gyre accept --out wrote");
}

TEST(CmdAccept, ChecksItsOptions) {
  const std::string run = "--endpoint http://h/v1 --out o ";
  EXPECT_EQ(message_of(run + "--connect-s 0"),
            "accept: --connect-s must be seconds above 0, got 0");
  EXPECT_EQ(message_of(run + "--attempts 0"), "accept: --attempts must be from 1 to 100, got 0");
  EXPECT_EQ(message_of(run + "--longest-wait-s -1"),
            "accept: --longest-wait-s must be seconds, 0 or more, got -1");
  EXPECT_EQ(message_of(run + "--slow-first-byte -1"),
            "accept: 'slow-first-byte' must be seconds above 0, got -1");
  EXPECT_EQ(message_of(run + "--dtype x"), "accept: --dtype must be fp32 or bf16, got 'x'");
  EXPECT_EQ(message_of(run + "--chunk 0"), "accept: --chunk must be 1 token or more, got 0");
  EXPECT_EQ(message_of(run + "--key-env GYRE_TEST_NO_SUCH_KEY"),
            "accept: --key-env names the variable GYRE_TEST_NO_SUCH_KEY, which is not set; export "
            "it, or leave --key-env out for a service without keys");
  EXPECT_NE(message_of(run + "--levels 4").find("levels"), std::string::npos);
  EXPECT_NE(message_of(run + "--lengths x").find("--lengths must be a whole number"),
            std::string::npos);
}

TEST(CmdAccept, AskForYesBeforeManyRequests) {
  const TempFolder temp;
  const std::string out = (temp / "run").string();
  const std::string message =
      message_of("--endpoint http://127.0.0.1:1/v1 --lengths 1k,4k --ask-above 100 --out " + out);
  EXPECT_TRUE(message.starts_with("accept: this run sends ")) << message;
  EXPECT_NE(message.find("above --ask-above 100; add --yes, or see it with: gyre accept plan"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(out));
}

TEST(CmdAccept, AModelInProcessNeedsTheOtherProgram) {
  EXPECT_EQ(message_of("--model some/model --levels 1 --out o"),
            "accept: a model in process needs gyre-torch; start it as: gyre accept --model PATH, "
            "or give --endpoint URL");
}

TEST(CmdAccept, ThePlanSendsNothing) {
  const Ran ran = gyre("accept plan --lengths 1k,4k --levels 1 --json - --no-curves");
  EXPECT_EQ(ran.code, 0) << ran.text;
  const Json json = Json::parse(ran.text);
  EXPECT_EQ(json.at("schema"), "gyre.accept_plan/1");
  EXPECT_EQ(json.at("most").at("requests"), 15);
  EXPECT_EQ(json.at("rows").at(0).at("what"), "level 1, 1,000 tokens");
}

TEST(CmdAccept, NothingAtTheAddressIsExitFourAndLeavesNothingToResume) {
  const TempFolder temp;
  const std::string out = (temp / "run").string();
  const Ran ran = gyre(
      "accept --endpoint http://127.0.0.1:1/v1 --model m --levels 1 --lengths 1k "
      "--attempts 1 --out " +
      out);
  EXPECT_EQ(ran.code, 4) << ran.text;
  EXPECT_TRUE(ran.text.starts_with("gyre: accept: asked http://127.0.0.1:1/v1 ")) << ran.text;
  EXPECT_NE(ran.text.find("start the server or correct --endpoint"), std::string::npos);
  EXPECT_EQ(std::count(ran.text.begin(), ran.text.end(), '\n'), 1);
  EXPECT_EQ(read_file(temp / "run" / "samples.jsonl"), "");
}

TEST(CmdAccept, SilenceIsNoticedBeforeAllItemsAreAsked) {
  const TempFolder temp;
  const Ran ran =
      gyre("accept --endpoint http://127.0.0.1:1/v1 --model m --levels 2 --attempts 1 --out " +
           (temp / "run").string());
  EXPECT_EQ(ran.code, 4) << ran.text;
  EXPECT_TRUE(ran.text.starts_with("gyre: accept: asked http://127.0.0.1:1/v1 6 times, found no "))
      << ran.text;
}

TEST(CmdAccept, ResultsDoNotGoOverTheRunsOwnFiles) {
  const TempFolder temp;
  const std::string out = (temp / "run").string(), run = "--endpoint http://h/v1 --out " + out;
  fs::create_directories(out);
  EXPECT_EQ(
      message_of(run + " --junit " + out + "/samples.jsonl"),
      "accept: --junit " + out + "/samples.jsonl is a file of the run itself; give another name");
  EXPECT_EQ(
      message_of(run + " --json " + (temp / "x").string() + " --junit " + (temp / "x").string()),
      "accept: --json and --junit name the same file " + (temp / "x").string() +
          "; give each its own");
}

TEST(CmdAccept, AKeyInPlaceOfItsVariableIsNotRepeated) {
  const std::string message = message_of("--endpoint http://h/v1 --out o --key-env sk-secret");
  EXPECT_TRUE(message.starts_with("accept: --key-env wants the name of a variable, such as "));
  EXPECT_EQ(message.find("sk-secret"), std::string::npos);
}

TEST(CmdAccept, ForceKeepsTheOldRunWhereNothingAnswers) {
  const TempFolder temp;
  const std::string out = (temp / "run").string();
  std::string url;
  {
    const MockServer server({"--window", "16384"});
    url = server.url();
    ASSERT_EQ(
        gyre("accept --endpoint " + url + " --levels 1 --lengths 1k --no-curves --out " + out).code,
        0);
  }
  const std::string before = read_file(temp / "run" / "samples.jsonl");
  const Ran ran = gyre("accept --endpoint " + url +
                       " --levels 1 --lengths 1k --no-curves --force --out " + out);
  EXPECT_EQ(ran.code, 4) << ran.text;
  EXPECT_NE(ran.text.find("the run in " + out + " is still there"), std::string::npos) << ran.text;
  EXPECT_EQ(read_file(temp / "run" / "samples.jsonl"), before);
}

TEST(CmdAccept, TheRecordOfARunIsAConfiguration) {
  const TempFolder temp;
  const std::string file = (temp / "run.json").string();
  write_file_atomic(file, R"({"schema":"gyre.accept_run/1","settings":{"endpoint":"http://h/v1",)"
                          R"("model":"m","generator":"1","lengths":"[900]","seed":"7"}})");
  const Ran ran = gyre("accept --seed 8 --print-config --config " + file);
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("[900]"), std::string::npos) << ran.text;
  EXPECT_EQ(message_of("--config " + file), "accept: where to? give a folder with --out DIR");
  write_file_atomic(file, R"({"schema":"gyre.accept_run/1"})");
  EXPECT_TRUE(message_of("--config " + file)
                  .starts_with(file + ": not the run.json of an acceptance run ("));
}

TEST(CmdAccept, ARunBeforeThatDoesNotFitIsRefusedBeforeAnythingIsSent) {
  const TempFolder temp;
  const std::string out = (temp / "run").string();
  EXPECT_EQ(message_of("--endpoint http://127.0.0.1:1/v1 --out " + out + " --before " + out),
            out + " holds no acceptance run; give the folder that gyre accept --out wrote");
  EXPECT_FALSE(fs::exists(out));
}

TEST(CmdAccept, ARunWritesItsFilesAndNoKey) {
  const MockServer server({"--window", "16384", "--key", "sk-not-for-files"});
  const TempFolder temp;
  const fs::path out = temp / "run";
  const std::string command = "accept --endpoint " + server.url() +
                              " --levels 1 --lengths 1k --no-curves --key-env A_KEY --out " +
                              out.string() + " --junit " + (temp / "junit.xml").string();
  const Ran ran = gyre(command, "A_KEY=sk-not-for-files");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_NE(ran.text.find("PASS"), std::string::npos);
  EXPECT_EQ(Json::parse(read_file(out / "accept.json")).at("verdict"), "PASS");
  EXPECT_NE(read_file(temp / "junit.xml").find("<testsuites"), std::string::npos);
  EXPECT_EQ(ran.text.find("sk-not-for-files"), std::string::npos);
  for (const auto& entry : fs::recursive_directory_iterator(out)) {
    if (entry.is_regular_file()) {
      EXPECT_EQ(read_file(entry.path()).find("sk-not-for-files"), std::string::npos)
          << entry.path();
    }
  }
  const int64_t asked = server.log().at("requests");
  EXPECT_EQ(gyre(command, "A_KEY=sk-not-for-files").code, 0);
  const Json posts = server.log().at("log");
  EXPECT_LE(server.log().at("requests").get<int64_t>(), asked + 8) << "only discovery again";
  const Ran wrong =
      gyre("accept --endpoint " + server.url() + " --levels 1 --lengths 1k --key-env A_KEY --out " +
               (temp / "wrong").string(),
           "A_KEY=sk-wrong-one");
  EXPECT_EQ(wrong.code, 4) << wrong.text;
  EXPECT_NE(wrong.text.find("found the key refused"), std::string::npos) << wrong.text;
  EXPECT_EQ(wrong.text.find("sk-wrong-one"), std::string::npos);
}

TEST(CmdAccept, AFaultIsExitOneAndItsEvidenceCanBeShown) {
  const MockServer server({"--fault", "keep_tail:window=1500"});
  const TempFolder temp;
  const std::string out = (temp / "run").string();
  const Ran ran = gyre("accept --endpoint " + server.url() +
                       " --levels 1 --lengths 1k,4k --no-curves --out " + out);
  EXPECT_EQ(ran.code, 1) << ran.text;
  EXPECT_NE(ran.text.find("TRUNC_HEAD"), std::string::npos) << ran.text;
  const Json json = Json::parse(read_file(temp / "run" / "accept.json"));
  const std::string sid = json.at("findings").at(0).at("evidence").at(0);
  const Ran shown = gyre("accept show " + sid + " --out " + out);
  EXPECT_EQ(shown.code, 0) << shown.text;
  EXPECT_NE(shown.text.find("equal byte for byte"), std::string::npos) << shown.text;
}

}  // namespace
}  // namespace gyre::cli
