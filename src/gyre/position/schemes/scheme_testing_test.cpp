// Bodies of scheme_testing.h; the name puts it into the test program only.
#include "gyre/position/schemes/scheme_testing.h"

#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::position::testing {
namespace {

nlohmann::json published() {
  return nlohmann::json::parse(
      read_file(GYRE_SOURCE_DIR "/src/gyre/position/testdata/frequency_tables.json"));
}

}  // namespace

std::vector<double> bands_of(const std::string& spec, int64_t head_dim) {
  const auto plan = make_plan(spec, "full", {.head_dim = head_dim});
  return plan.layers[0].inv_freq.empty() ? std::vector<double>{} : plan.layers[0].inv_freq[0];
}

void expect_published_tables(const std::string& scheme) {
  const nlohmann::json file = published();
  int found = 0;
  for (const auto& table : file["tables"]) {
    const std::string spec = table["spec"];
    if (spec.substr(0, spec.find(':')) != scheme) {
      continue;
    }
    ++found;
    const auto expected = table["inv_freq"].get<std::vector<double>>();
    const auto actual = bands_of(spec, table["head_dim"]);
    ASSERT_EQ(actual.size(), expected.size()) << table["model"];
    for (size_t m = 0; m < expected.size(); ++m) {
      EXPECT_NEAR(actual[m], expected[m], 2.3e-16 * expected[m]) << table["model"] << " band " << m;
    }
  }
  EXPECT_GT(found, 0);
}

std::map<int64_t, std::vector<double>> published_slopes() {
  std::map<int64_t, std::vector<double>> out;
  const nlohmann::json slopes = published()["alibi"];
  for (const auto& [n_heads, values] : slopes.items()) {
    out[std::stoll(n_heads)] = values.get<std::vector<double>>();
  }
  return out;
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
