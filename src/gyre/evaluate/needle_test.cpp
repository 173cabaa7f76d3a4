// Ranking with models whose behaviour is known: a perfect copier, one that knows nothing, one that
// knows only which values are present, one that prefers the last.
#include "gyre/evaluate/needle.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gyre::evaluate {
namespace {

constexpr int64_t kVocab = 257;

/// Puts `scale` on the token that followed the last n_match tokens when they occurred before.
NextLogitsFn copier(int64_t n_match, double scale = 5.0) {
  return [=](const at::Tensor& tokens) {
    at::Tensor logits = at::zeros({tokens.size(0), kVocab}, at::kFloat);
    const auto ids = tokens.accessor<int64_t, 2>();
    const int64_t T = tokens.size(1);
    for (int64_t b = 0; b < tokens.size(0); ++b) {
      for (int64_t t = n_match; t < T; ++t) {
        bool match = true;
        for (int64_t i = 1; i <= n_match; ++i) {
          match = match && ids[b][t - i] == ids[b][T - i];
        }
        if (match) {
          logits[b][ids[b][t]] = scale;
        }
      }
    }
    return logits;
  };
}

at::Tensor uniform(const at::Tensor& tokens) {
  return at::zeros({tokens.size(0), kVocab}, at::kFloat);
}

/// Later tokens score higher; absent ones lowest.
at::Tensor prefers_recent(const at::Tensor& tokens) {
  at::Tensor logits = at::zeros({tokens.size(0), kVocab}, at::kFloat);
  const auto ids = tokens.accessor<int64_t, 2>();
  for (int64_t b = 0; b < tokens.size(0); ++b) {
    for (int64_t t = 0; t < tokens.size(1); ++t) {
      logits[b][ids[b][t]] = static_cast<double>(t + 1);
    }
  }
  return logits;
}

NeedleCell rank(NeedleFamily family, int64_t n_distractors, const NextLogitsFn& next) {
  const auto tokenizer = model::byte_tokenizer();
  return rank_needles(needle_alphabet(*tokenizer, family), {family, n_distractors, 7, 64, 1}, next);
}

TEST(Needle, PerfectCopierFindsAllAndTheControlIsAtChance) {
  for (const int64_t k : {0, 1, 3, 7, 15, 31}) {
    const NeedleCell cell = rank(NeedleFamily::Pairs, k, copier(1));
    EXPECT_EQ(cell.evidence.correct, 64) << k;
    EXPECT_EQ(cell.evidence.hits, std::string(64, '1'));
    EXPECT_DOUBLE_EQ(cell.control.accuracy(), cell.chance) << k;
    EXPECT_EQ(cell.length, 3 * (k + 1) + 2);
    const NeedleCell lines = rank(NeedleFamily::Lines, k, copier(6));
    EXPECT_EQ(lines.evidence.correct, 64) << k;
    EXPECT_DOUBLE_EQ(lines.control.accuracy(), lines.chance) << k;
  }
}

TEST(Needle, UniformModelIsAtChance) {
  for (const int64_t k : {0, 1, 3, 7, 15, 31}) {
    const NeedleCell cell = rank(NeedleFamily::Pairs, k, uniform);
    EXPECT_DOUBLE_EQ(cell.evidence.accuracy(), cell.chance) << k;
    EXPECT_DOUBLE_EQ(cell.control.accuracy(), cell.chance) << k;
    const auto options = static_cast<double>(cell.options);
    EXPECT_NEAR(cell.evidence.option_nll, std::log(options), 1e-12);
  }
}

TEST(Needle, RecencyWithoutRetrievalIsAtChanceAndShowsInTheBuckets) {
  // keys may equal other pairs' values at 31 distractors; with 7 a wide margin remains
  const NeedleCell cell = rank(NeedleFamily::Pairs, 7, prefers_recent);
  EXPECT_NEAR(cell.evidence.accuracy(), cell.chance, 0.05);
  EXPECT_NEAR(cell.control.accuracy(), cell.chance, 0.05);
  EXPECT_EQ(cell.buckets[cell.worst].correct, 0);
  EXPECT_GT(cell.buckets.back().accuracy(), 0.3);
}

TEST(Needle, PresenceAloneWinsOnlyWithoutDistractors) {
  const NeedleCell alone = rank(NeedleFamily::Pairs, 0, prefers_recent);
  EXPECT_EQ(alone.evidence.correct, 64);
  EXPECT_DOUBLE_EQ(alone.control.accuracy(), alone.chance);
}

TEST(Needle, BucketsAddUp) {
  const NeedleCell cell = rank(NeedleFamily::Pairs, 15, copier(1));
  int64_t n = 0, correct = 0;
  for (const NeedleBucket& bucket : cell.buckets) {
    n += bucket.n;
    correct += bucket.correct;
  }
  EXPECT_EQ(cell.buckets.size(), 5U);
  EXPECT_EQ(n, 64);
  EXPECT_EQ(correct, cell.evidence.correct);
  EXPECT_EQ(rank(NeedleFamily::Pairs, 1, uniform).buckets.size(), 2U);  // two depths only
}

TEST(Needle, OptionNllIsTheSoftmaxOverTheOptions) {
  // scale s on one of two options: -log(e^s / (e^s + 1))
  const NeedleCell cell = rank(NeedleFamily::Pairs, 1, copier(1, 2.0));
  EXPECT_NEAR(cell.evidence.option_nll, std::log1p(std::exp(-2.0)), 1e-6);
}

}  // namespace
}  // namespace gyre::evaluate
