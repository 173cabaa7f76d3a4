#include "gyre/evaluate/length_curve.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/full.h>
#include <gtest/gtest.h>

#include <cmath>

#include "gyre/evaluate/eval_options.h"
#include "gyre/evaluate/fixtures.h"

namespace gyre::evaluate {
namespace {

using testing::TempFolder;

at::Tensor target_as_loss(const at::Tensor&, const at::Tensor& targets) {
  return targets.to(at::kFloat);
}

/// Loss = position in the window.
at::Tensor position_as_loss(const at::Tensor& tokens, const at::Tensor&) {
  return at::arange(tokens.size(1), at::kFloat).expand_as(tokens);
}

TEST(LengthCurve, ScoresTheSameTokensAtEveryLength) {
  const TempFolder folder("lengths-same");
  const auto stream = testing::make_stream(folder.path / "val.bin", testing::counting_tokens(400));
  std::vector<std::string> notes;
  // 24 does not divide the 128 tokens of the region: the last windows are cut or overlap more
  const auto entries = length_curve(*stream, {8, 16, 24, 64}, 100, target_as_loss, notes);
  ASSERT_EQ(entries.size(), 8U);
  for (const LengthEntry& entry : entries) {
    EXPECT_EQ(entry.n_tokens, 128) << entry.length;
    // targets 33 .. 160: half of 64 and one more to start with
    EXPECT_DOUBLE_EQ(entry.loss, (33.0 + 160.0) / 2) << entry.length;
  }
  EXPECT_FALSE(entries[0].sliding);
  EXPECT_TRUE(entries[4].sliding);
  EXPECT_TRUE(notes.empty());
}

TEST(LengthCurve, SlidingWindowsScoreTheirSecondHalf) {
  const TempFolder folder("lengths-halves");
  const auto stream = testing::make_stream(folder.path / "val.bin", testing::counting_tokens(400));
  std::vector<std::string> notes;
  const auto entries = length_curve(*stream, {8, 16}, 64, position_as_loss, notes);
  EXPECT_DOUBLE_EQ(entries[0].loss, 3.5);   // disjoint 8: positions 0 .. 7
  EXPECT_DOUBLE_EQ(entries[1].loss, 7.5);   // disjoint 16
  EXPECT_DOUBLE_EQ(entries[2].loss, 5.5);   // sliding 8: positions 4 .. 7
  EXPECT_DOUBLE_EQ(entries[3].loss, 11.5);  // sliding 16: positions 8 .. 15
  ASSERT_EQ(entries[3].blocks.size(), 1U);
  EXPECT_EQ(entries[3].blocks[0].begin, 8);
  EXPECT_EQ(entries[3].blocks[0].end, 16);
  EXPECT_EQ(entries[0].blocks.size(), 4U);  // 0-1 1-2 2-4 4-8
}

TEST(LengthCurve, ShortSplitIsSaid) {
  const TempFolder folder("lengths-short");
  const auto stream = testing::make_stream(folder.path / "val.bin", testing::counting_tokens(100));
  std::vector<std::string> notes;
  const auto entries = length_curve(*stream, {16, 128}, 4096, target_as_loss, notes);
  ASSERT_EQ(entries.size(), 4U);
  EXPECT_EQ(entries[0].n_tokens, 80);  // (100 - 1 - 8) / 16 = 5 windows
  EXPECT_EQ(entries[1].n_tokens, 0);
  EXPECT_TRUE(std::isnan(entries[1].loss));
  EXPECT_EQ(entries[1].skipped, "the validation split has 100 tokens, length 128 needs 193");
  ASSERT_EQ(notes.size(), 3U);
  EXPECT_EQ(notes[0],
            "length curve: 4096 tokens asked, 80 scored at every length; the validation split has "
            "100");
  EXPECT_EQ(notes[1],
            "length curve, 128 disjoint: skipped, the validation split has 100 tokens, length 128 "
            "needs 193");
}

TEST(LengthCurve, NothingFitsGivesReasonsOnly) {
  const TempFolder folder("lengths-none");
  const auto stream = testing::make_stream(folder.path / "val.bin", testing::counting_tokens(20));
  std::vector<std::string> notes;
  const auto entries = length_curve(*stream, {64}, 64, target_as_loss, notes);
  ASSERT_EQ(entries.size(), 2U);
  EXPECT_FALSE(entries[0].skipped.empty());
  EXPECT_EQ(notes.size(), 2U);
}

TEST(LengthCurve, NotFiniteLossIsSaid) {
  const TempFolder folder("lengths-nan");
  const auto stream = testing::make_stream(folder.path / "val.bin", testing::counting_tokens(100));
  std::vector<std::string> notes;
  const NllFn nan = [](const at::Tensor& tokens, const at::Tensor&) {
    return at::full(tokens.sizes(), NAN, at::kFloat);
  };
  const auto entries = length_curve(*stream, {16}, 16, nan, notes);
  EXPECT_TRUE(std::isnan(entries[0].loss));
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_EQ(notes[1], "length curve, 16 sliding: the loss is not finite");
}

std::string message_of(const std::vector<std::string>& lengths) {
  try {
    parse_lengths(lengths, 256);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(EvalOptions, LengthsAreTokensOrMultiples) {
  EXPECT_EQ(parse_lengths({"4x", "1x", "100", "0.5x", "256"}, 256),
            (std::vector<int64_t>{100, 128, 256, 1024}));
  EXPECT_EQ(message_of({"2y"}),
            "--lengths: '2y' is no length; give tokens (512) or training lengths (2x)");
  EXPECT_EQ(message_of({"1"}), "--lengths: '1' is 1 tokens; the shortest length is 2");
}

TEST(EvalOptions, CheckNamesTheOption) {
  EvalOptions options;
  options.needle_items = 0;
  try {
    check(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--needle-items must be at least 1, got 0");
  }
}

}  // namespace
}  // namespace gyre::evaluate
