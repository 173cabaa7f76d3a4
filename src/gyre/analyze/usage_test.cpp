// Shares, intervals, groups and targets by hand.
#include "gyre/analyze/usage.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gyre/analyze/ablation.h"
#include "gyre/analyze/constructed_testing.h"
#include "gyre/analyze/targets.h"
#include "gyre/base/error.h"

namespace gyre::analyze {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Shares, AreByWavelengthNotByIndex) {
  // Slowest first: the two slowest pairs of four are 0 and 2.
  const Shares shares = shares_of({4.0, 1.0, 3.0, 2.0}, {kInf, 6.0, 500.0, 60.0});
  EXPECT_DOUBLE_EQ(shares.low50, 0.7);
  EXPECT_DOUBLE_EQ(shares.low25, 0.4);
  EXPECT_DOUBLE_EQ(shares.high25, 0.1);
  EXPECT_NEAR(shares.spread, std::sqrt(1.25) / 2.5, 1e-12);
}

TEST(Shares, EqualNormsHaveEqualShares) {
  const Shares shares = shares_of({2.0, 2.0, 2.0, 2.0}, {1.0, 2.0, 3.0, 4.0});
  EXPECT_DOUBLE_EQ(shares.low50, 0.5);
  EXPECT_DOUBLE_EQ(shares.high25, 0.25);
  EXPECT_DOUBLE_EQ(shares.spread, 0.0);
}

TEST(Estimate, IsStudentsInterval) {
  // Mean 2, standard deviation 1, n 3: half width 4.302653 / sqrt 3 (table of t, 2 degrees).
  const Estimate x = estimate({1.0, 2.0, 3.0});
  EXPECT_DOUBLE_EQ(x.mean, 2.0);
  EXPECT_NEAR(x.hi - x.mean, 4.302653 / std::sqrt(3.0), 1e-5);
  EXPECT_TRUE(std::isnan(estimate({1.0}).lo));
}

TEST(Correlation, IsOneForScaledAndMinusOneForReversed) {
  EXPECT_NEAR(correlation({1.0, 2.0, 4.0}, {3.0, 5.0, 9.0}), 1.0, 1e-12);
  EXPECT_NEAR(correlation({1.0, 2.0, 3.0}, {3.0, 2.0, 1.0}), -1.0, 1e-12);
}

TEST(Groups, ThirdsByWavelength) {
  const std::vector<double> wavelength = {kInf, 6.0, 60.0, 600.0, 7.0, kInf};
  EXPECT_EQ(pairs_of_group(wavelength, BandGroup::Fast), (std::vector<size_t>{1, 4}));
  EXPECT_EQ(pairs_of_group(wavelength, BandGroup::Middle), (std::vector<size_t>{2, 3}));
  EXPECT_EQ(pairs_of_group(wavelength, BandGroup::Slow), (std::vector<size_t>{0, 5}));
}

struct SmallRows {
  model::Transformer model = constructed_model();
  std::unique_ptr<model::Tokenizer> tokenizer = model::byte_tokenizer();
  Subject subject{.name = "constructed", .identity = "", .model = model, .tokenizer = *tokenizer};
};

TEST(AnalyzeRows, PiecesOfOneTextDoNotOverlap) {
  const SmallRows small;
  std::string text;
  for (int i = 0; i < 100; ++i) {
    text += static_cast<char>('!' + i % 90);
  }
  const AnalyzeOptions options{.builtin = false, .tokens = 32, .windows = 3, .random_rows = 1};
  const Rows rows = make_rows(small.subject, {{"t", "t", text}}, options);
  ASSERT_EQ(rows.tokens.sizes(), (std::vector<int64_t>{5, 32}));
  EXPECT_EQ(rows.tokens[0][0].item<int64_t>(), '!');
  EXPECT_EQ(rows.tokens[1][0].item<int64_t>(), '!' + 34);
  EXPECT_EQ(rows.tokens[2][31].item<int64_t>(), '!' + 9);  // the last token of the text
  EXPECT_EQ(rows.period, 16);
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(rows.tokens[3][i].item<int64_t>(), rows.tokens[3][i + 16].item<int64_t>());
  }
}

TEST(AnalyzeRows, ShortTextsAreLeftOutWithANote) {
  const SmallRows small;
  const AnalyzeOptions options{.tokens = 64, .windows = 1};
  const Rows rows = make_rows(
      small.subject, {{"short", "s", "abc"}, {"long", "l", std::string(70, 'x') + "yz"}}, options);
  ASSERT_EQ(rows.domains.size(), 1U);
  EXPECT_EQ(rows.domains[0].name, "long");
  ASSERT_EQ(rows.notes.size(), 1U);
  EXPECT_EQ(rows.notes[0], "text short: 3 tokens hold 0 rows of 64, 1 were asked");
  try {
    make_rows(small.subject, {{"short", "s", "abc"}}, options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(
        error.what(),
        "analyze: no text holds a row of 64 tokens; give a longer --text or fewer --tokens");
  }
}

TEST(Targets, InductionLooksAtWhatFollowed) {
  const SmallRows small;
  const AnalyzeOptions options{.tokens = 64, .windows = 1, .random_rows = 1};
  const Rows rows = make_rows(small.subject, builtin_texts(), options);
  const Targets targets = make_targets(rows);
  ASSERT_EQ(rows.period, 32);
  EXPECT_TRUE(targets.induction.keys[40][9].item<bool>());  // token 40 stood at 8 before
  EXPECT_EQ(targets.induction.keys[40].sum().item<int64_t>(), 1);
  EXPECT_EQ(targets.induction.keys[30].sum().item<int64_t>(), 0);
  EXPECT_EQ(targets.diagonal.n_queries, 56.0);
}

TEST(AnalyzeOptions, BadValuesAreNamed) {
  const auto message = [](const AnalyzeOptions& options) {
    try {
      check(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.tokens = 8}), "--tokens must be 32 to 4096, got 8");
  EXPECT_EQ(message({.threshold = 1.0}), "--threshold must lie between 0 and 1, got 1");
  EXPECT_EQ(message({}), "");
}

}  // namespace
}  // namespace gyre::analyze
