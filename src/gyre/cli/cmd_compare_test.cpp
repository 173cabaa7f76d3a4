// End to end: `gyre compare` as a user runs it, on a small text and a tiny model. Slow tests of
// this kind carry the suite name E2e so that they can be told apart.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Outcome {
  int status = -1;
  std::string text;  // stdout and stderr
};

class E2eCompare : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::temp_directory_path() /
            ("gyre_compare_" + std::to_string(::getpid()) + "_" + info->name());
    fs::create_directories(root_);
    std::ofstream text(root_ / "text.txt");
    const char* words[] = {"the king ", "of france ", "has lost ", "his crown ",
                           "and will ", "not speak ", "until ",    "morning. "};
    uint64_t state = 1;
    for (int i = 0; i < 6000; ++i) {
      state = state * 6364136223846793005ULL + 1442695040888963407ULL;
      text << words[state >> 61U];
    }
  }
  void TearDown() override { fs::remove_all(root_); }

  static Outcome call(const std::string& command) {
    Outcome out;
    FILE* pipe = ::popen((command + " 2>&1").c_str(), "r");
    char buffer[4096];
    while (const size_t n = std::fread(buffer, 1, sizeof(buffer), pipe)) {
      out.text.append(buffer, n);
    }
    out.status = WEXITSTATUS(::pclose(pipe));
    return out;
  }
  Outcome compare(const std::string& flags) const {
    return call("GYRE_CACHE=" + (root_ / "cache").string() + " " GYRE_PROGRAM " compare --out " +
                (root_ / "out").string() + " --data " + (root_ / "text.txt").string() +
                " --length 32 --batch 4 --width 32 --layers 1 --heads 2 --head-dim 16 --hidden 64"
                " --val-tokens 2048 --length-tokens 512 --needle-items 8 --band-windows 2"
                " --overhead-seconds 0.2 --no-report " +
                flags);
  }
  Json result() const {
    std::ifstream file(root_ / "out" / "compare.json");
    return Json::parse(file, nullptr, false);
  }

  fs::path root_;
};

TEST_F(E2eCompare, TwoArmsTwoSeedsThenNothingLeftToDo) {
  const Outcome first = compare("--arms rope,lerope --seeds 2 --tokens 4096");
  ASSERT_EQ(first.status, 0) << first.text;
  EXPECT_NE(first.text.find("4 cells (2 arms x 2 seeds), 4,096 tokens each"), std::string::npos)
      << first.text;
  const Json json = result();
  ASSERT_TRUE(json.is_object());
  EXPECT_EQ(json["schema"], "gyre.compare/1");
  EXPECT_EQ(json["settings"]["tokens"], 4096);
  ASSERT_EQ(json["arms"].size(), 2);
  EXPECT_GT(json["arms"][0]["val_loss_mean"].get<double>(), 0.5);
  EXPECT_LT(json["arms"][0]["val_loss_mean"].get<double>(), 5.5);  // below ln 257
  EXPECT_EQ(json["arms"][1]["alpha_params"], 8);
  ASSERT_EQ(json["pairs"].size(), 1);
  EXPECT_EQ(json["pairs"][0]["n_seeds"], 2);
  // Same weights, same batch, alpha = 0: the first step of both arms is the same.
  EXPECT_EQ(json["arms"][0]["curve"][0]["loss"][0], json["arms"][1]["curve"][0]["loss"][0]);
  EXPECT_EQ(json["overhead"][0]["extra_params"], 8);
  EXPECT_GT(json["overhead"][0]["n_pairs"].get<int>(), 4);
  EXPECT_EQ(json["cells"][3]["status"], "done");
  EXPECT_FALSE(json["frequencies"].empty());
  EXPECT_FALSE(json["length_curve"].empty());
  EXPECT_FALSE(json["needle"].empty());

  const Outcome again = compare("--arms rope,lerope --seeds 2 --tokens 4096");
  ASSERT_EQ(again.status, 0) << again.text;
  EXPECT_NE(again.text.find("all complete"), std::string::npos) << again.text;
  EXPECT_EQ(result()["cells"][0]["status"], "skipped");
  EXPECT_EQ(result()["pairs"], json["pairs"]);

  const Outcome other = compare("--arms rope,lerope --seeds 2 --tokens 8192");
  EXPECT_EQ(other.status, 2);
  EXPECT_NE(other.text.find("holds a comparison with --"), std::string::npos) << other.text;
}

TEST_F(E2eCompare, AFailedCellIsKeptAndTheOthersAreCompared) {
  fs::create_directories(root_ / "out" / "cells");
  std::ofstream(root_ / "out" / "cells" / "nope-s1") << "a file where the run should go";
  const Outcome out = compare("--arms rope,nope,alibi --seeds 1 --tokens 1024");
  EXPECT_EQ(out.status, 1) << out.text;
  const Json json = result();
  ASSERT_TRUE(json.is_object()) << out.text;
  EXPECT_EQ(json["cells"][1]["status"], "failed");
  EXPECT_FALSE(json["cells"][1]["error"].get<std::string>().empty());
  ASSERT_EQ(json["arms"].size(), 2);
  EXPECT_EQ(json["pairs"][0]["b"], "alibi");
  EXPECT_NE(out.text.find("Failed cells"), std::string::npos) << out.text;
  EXPECT_NE(out.text.find("One seed:"), std::string::npos) << out.text;
}

TEST_F(E2eCompare, BadArmsAreOneLineBeforeAnythingRuns) {
  const Outcome unknown = compare("--arms rope,ropee");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_NE(unknown.text.find("no position scheme 'ropee'; did you mean 'rope'?"),
            std::string::npos)
      << unknown.text;
  const Outcome seeds = compare("--seeds 0");
  EXPECT_EQ(seeds.status, 2);
  EXPECT_NE(seeds.text.find("--seeds must be a count"), std::string::npos) << seeds.text;
  EXPECT_FALSE(fs::exists(root_ / "out" / "cells"));
}

TEST_F(E2eCompare, PrintConfigRunsNothing) {
  const Outcome out = compare("--print-config --lr 0.01");
  EXPECT_EQ(out.status, 0) << out.text;
  EXPECT_NE(out.text.find("Comparison.arms = rope,prope:p=0.75,nope,lerope,alibi  (default)"),
            std::string::npos)
      << out.text;
  EXPECT_NE(out.text.find("lr = 0.01  (flag)"), std::string::npos) << out.text;
  EXPECT_FALSE(fs::exists(root_ / "out"));
}

}  // namespace
