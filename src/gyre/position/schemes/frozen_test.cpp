// Tests of schemes/frozen.cpp: tables, options, messages.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "gyre/base/error.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

constexpr PlanRequest kRequest{.n_layers = 2, .n_heads = 4, .n_kv_heads = 2, .head_dim = 4};

// A run directory with the given frequencies.jsonl.
class Frozen : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    run_ =
        std::filesystem::temp_directory_path() / str("gyre-frozen-", ::getpid(), "-", test->name());
    std::filesystem::create_directories(run_);
  }
  void TearDown() override { std::filesystem::remove_all(run_); }

  void write(const std::string& text) { std::ofstream(path()) << text; }
  std::string path() const { return (run_ / "frequencies.jsonl").string(); }
  PositionPlan plan(const PlanRequest& request = kRequest) const {
    return make_plan("frozen:from=" + run_.string(), "full", request);
  }
  void expect_error(Code code, const std::string& message, const PlanRequest& request = kRequest) {
    try {
      plan(request);
      FAIL() << "no error; expected: " << message;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code);
      EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
    }
  }
  static std::string line(const std::string& inv_freq) {
    return R"({"schema":"gyre.frequency/1","step":1,"alpha":[0.1],"inv_freq":)" + inv_freq + "}\n";
  }

  std::filesystem::path run_;
};

TEST_F(Frozen, TakesTheLastLine) {
  write(line("[[[1.0,0.5]]]") + line("[[[0.30000000000000004,0.0]]]"));
  const PositionPlan frozen = plan();
  EXPECT_EQ(frozen.rotary_dim, 4);
  EXPECT_EQ(frozen.learning, Learning{});
  for (const LayerPlan& layer : frozen.layers) {
    EXPECT_EQ(layer.inv_freq, (std::vector<std::vector<double>>{{0.1 + 0.2, 0.0}}));
  }
}

TEST_F(Frozen, TakesAnUnfinishedLastLineWithoutNewline) {
  std::string text = line("[[[1.0,0.5]]]");
  text.pop_back();
  write(text);
  EXPECT_EQ(plan().layers[0].inv_freq[0][1], 0.5);
}

TEST_F(Frozen, KeepsLayersAndHeadsApart) {
  write(line("[[[1.0,0.5],[0.9,0.4]],[[0.8,0.3],[0.7,0.2]]]"));
  const PositionPlan frozen = plan();
  EXPECT_EQ(frozen.layers[0].inv_freq[1][0], 0.9);
  EXPECT_EQ(frozen.layers[1].inv_freq[0][1], 0.3);
}

TEST_F(Frozen, RefusesAnotherShape) {
  write(line("[[[1,0.5]],[[1,0.5]],[[1,0.5]]]"));
  expect_error(Code::Usage, "has frequencies for 3 layers, this model has 2");
  write(line("[[[1,0.5],[1,0.5],[1,0.5]]]"));
  expect_error(Code::Usage, "has frequencies for 3 key/value heads, this model has 2");
  write(line("[[[1,0.5,0.1]]]"));
  expect_error(Code::Usage, "has 3 pairs per head, a head dim of 4 has 2");
  write(line("[[[1,0.5]],[[1]]]"));
  expect_error(Code::Usage, "has 1 pairs per head in layer 1 and 2 in layer 0");
}

TEST_F(Frozen, RefusesAFileThatHoldsNoFrequencies) {
  expect_error(Code::File, path());
  write("\n");
  expect_error(Code::Format, path() + ": the file is empty, expected a line per logged step");
  write("{\"schema\":\"gyre.metric/1\"}\n");
  expect_error(Code::Format, path() + ": the last line is no gyre.frequency/1 object");
  write(line("[1,2]"));
  expect_error(Code::Format,
               path() + ": the last line has no 'inv_freq' of the form [layer][group][pair]");
  write(line("[[[1,-0.5]]]"));
  expect_error(Code::Format, path() + ": frequency -0.5 is not a finite number of 0 or more");
}

TEST_F(Frozen, AsksForARun) {
  expect_usage_error("frozen", kRequest,
                     "frozen: 'from' must name a run directory; use frozen:from=RUN");
}

}  // namespace
}  // namespace gyre::position
