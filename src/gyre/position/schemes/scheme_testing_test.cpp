// Bodies of scheme_testing.h; the name puts it into the test program only.
#include "gyre/position/schemes/scheme_testing.h"

#include <unistd.h>

#include <cmath>
#include <fstream>

#include "gyre/base/error.h"

namespace gyre::position::testing {

std::vector<double> bands_of(const std::string& spec, int64_t head_dim) {
  return bands_of(spec, PlanRequest{.head_dim = head_dim});
}

std::vector<double> bands_of(const std::string& spec, const PlanRequest& request) {
  const auto plan = make_plan(spec, "full", request);
  return plan.layers[0].inv_freq.empty() ? std::vector<double>{} : plan.layers[0].inv_freq[0];
}

TemporaryRun::TemporaryRun(const std::string& inv_freq) {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  folder_ = std::filesystem::temp_directory_path() /
            str("gyre-run-", ::getpid(), "-", test->test_suite_name(), "-", test->name());
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "frequencies.jsonl")
      << R"({"schema":"gyre.frequency/1","step":1,"alpha":[],"inv_freq":)" << inv_freq << "}\n";
}

TemporaryRun::~TemporaryRun() {
  std::filesystem::remove_all(folder_);
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected,
                  double relative) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t m = 0; m < expected.size(); ++m) {
    EXPECT_NEAR(actual[m], expected[m], relative * std::abs(expected[m])) << "entry " << m;
  }
}

void expect_usage_error(const std::string& spec, const PlanRequest& request,
                        const std::string& message) {
  try {
    make_plan(spec, "full", request);
    FAIL() << spec << ": no error; expected: " << message;
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Code::Usage);
    EXPECT_EQ(std::string(e.what()), message);
  }
}

}  // namespace gyre::position::testing
