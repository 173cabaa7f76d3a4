// Every table of testdata/frequency_tables.json (its "source" says where the numbers come from)
// against the plan that its spec makes: frequencies, amplitude, softmax correction, YaRN bounds,
// GGUF divisors and slopes, to 1e-12 relative in float64.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/position/extension.h"
#include "gyre/position/scheme.h"

namespace gyre::position {
namespace {

constexpr double kRelative = 1e-12;

// A case is a table or a head count with its slopes, told apart by "n_heads".
struct Case {
  std::string name;
  nlohmann::json row;
};

void PrintTo(const Case& one, std::ostream* out) {
  *out << one.name;
}

std::vector<Case> cases() {
  const auto file = nlohmann::json::parse(
      read_file(GYRE_SOURCE_DIR "/src/gyre/position/testdata/frequency_tables.json"));
  std::vector<Case> out;
  for (const auto& table : file["tables"]) {
    out.push_back({table["model"].get<std::string>(), table});
  }
  for (const auto& [n_heads, slopes] : file["alibi"].items()) {
    out.push_back({str("alibi-", n_heads, "-heads"),
                   nlohmann::json{{"n_heads", std::stoll(n_heads)}, {"slopes", slopes}}});
  }
  return out;
}

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t m = 0; m < expected.size(); ++m) {
    EXPECT_NEAR(actual[m], expected[m], kRelative * expected[m]) << "entry " << m;
  }
}

Bands bands_of(const PositionPlan& plan, const nlohmann::json& row) {
  if (plan.layers[0].inv_freq.empty()) {
    return Bands(row["inv_freq"].size(), 0.0);
  }
  Bands bands = plan.layers[0].inv_freq[0];
  for (size_t m = 0; row.contains("alpha") && m < bands.size(); ++m) {
    bands[m] *= std::exp(row["alpha"][m].get<double>());  // as training changes them
  }
  return bands;
}

// The bounds from the spec's own options, and as the plan shows them: bands up to the lower one are
// the base's, bands from the upper one are divided by the factor.
void expect_yarn_bounds(const nlohmann::json& row, const Bands& bands) {
  const auto scheme = make_scheme(row["spec"].get<std::string>());
  std::map<std::string, double> option;
  for (const Field& field : scheme->fields()) {
    const std::string text = field.get();
    option[field.name] = text == "true" ? 1.0 : std::atof(text.c_str());
  }
  const int64_t R = row["rotary_dim"];
  const RampBounds bounds = yarn_ramp_bounds(
      row["base"], R,
      {option["original"], option["beta_fast"], option["beta_slow"], option["truncate"] == 1.0});
  expect_close({bounds.low, bounds.high, bounds.raw_low, bounds.raw_high},
               {row["low"], row["high"], row["raw_low"], row["raw_high"]});
  for (size_t m = 0; m < bands.size(); ++m) {
    const double plain =
        std::pow(row["base"].get<double>(), -2.0 * static_cast<double>(m) / static_cast<double>(R));
    const auto index = static_cast<double>(m);
    if (index <= row["low"].get<double>()) {
      EXPECT_NEAR(bands[m], plain, kRelative * plain) << m;
    } else if (index >= row["high"].get<double>()) {
      EXPECT_NEAR(bands[m], plain / option["factor"], kRelative * plain) << m;
    } else {
      EXPECT_GT(bands[m], plain / option["factor"] * 1.0001) << m;
      EXPECT_LT(bands[m], plain / 1.0001) << m;
    }
  }
}

void expect_table(const nlohmann::json& row) {
  const PositionPlan plan =
      make_plan(row["spec"].get<std::string>(), "full",
                {.head_dim = row["head_dim"], .length = row.value("length", 0)});
  const Bands bands = bands_of(plan, row);
  expect_close(bands, row["inv_freq"].get<Bands>());
  if (!plan.layers[0].inv_freq.empty()) {
    EXPECT_EQ(plan.rotary_dim, row["rotary_dim"]);
    EXPECT_EQ(plan.layout, row["spec"].get<std::string>().find("interleaved") == std::string::npos
                               ? PairLayout::Halves
                               : PairLayout::Interleaved);
  }
  expect_close({plan.layers[0].amplitude, plan.layers[0].logit_scale},
               {row["amplitude"], row.value("softmax_scale_multiplier", 1.0)});
  const Bands divisors = gguf_divisors(bands, row["base"], row["rotary_dim"]);
  expect_close(divisors, row.contains("gguf_divisors") ? row["gguf_divisors"].get<Bands>()
                                                       : Bands(bands.size(), 1.0));
  if (row.contains("low")) {
    expect_yarn_bounds(row, bands);
  }
}

void expect_llama3_counts(const nlohmann::json& row) {
  const auto counts = row["kept_blended_divided"].get<std::vector<int64_t>>();
  const Bands divisors = row["gguf_divisors"].get<Bands>();
  const double factor = divisors.back();
  EXPECT_EQ(std::count(divisors.begin(), divisors.end(), 1.0), counts[0]);
  EXPECT_EQ(std::count(divisors.begin(), divisors.end(), factor), counts[2]);
}

class PublishedTables : public ::testing::TestWithParam<Case> {};

TEST_P(PublishedTables, AreWhatTheirSpecMakes) {
  const nlohmann::json& row = GetParam().row;
  if (row.contains("n_heads")) {
    const auto plan = make_plan("alibi:slopes=released", "full", {.n_heads = row["n_heads"]});
    expect_close(plan.layers[0].slopes, row["slopes"].get<std::vector<double>>());
    return;
  }
  expect_table(row);
  if (row.contains("kept_blended_divided")) {
    expect_llama3_counts(row);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PublishedTables, ::testing::ValuesIn(cases()), [](const auto& one) {
  std::string name = one.param.name;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

TEST(FrequencyTables, AreAllThere) {
  EXPECT_EQ(cases().size(), 42U + 13U);
}

}  // namespace
}  // namespace gyre::position
