// Learning-rate shapes at hand-picked points; option faults.
#include "gyre/train/schedule.h"

#include <gtest/gtest.h>

#include <functional>

#include "gyre/base/error.h"

namespace gyre::train {
namespace {

TrainOptions shape(Schedule schedule) {
  TrainOptions options;
  options.schedule = schedule;
  options.warmup = 0.1;
  options.min_lr = 0.1;
  return options;
}

TEST(Cosine, RisesToOneAndEndsAtTheMinimum) {
  const TrainOptions options = shape(Schedule::Cosine);
  EXPECT_DOUBLE_EQ(learning_rate_share(options, 0, 101), 0.1);  // 10 warm-up steps
  EXPECT_DOUBLE_EQ(learning_rate_share(options, 9, 101), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate_share(options, 10, 101), 1.0);
  EXPECT_DOUBLE_EQ(learning_rate_share(options, 55, 101), 0.55);  // half way: (1 + 0.1) / 2
  EXPECT_NEAR(learning_rate_share(options, 100, 101), 0.1, 1e-15);
}

TEST(Wsd, IsConstantThenFallsOverTheLastFifth) {
  const TrainOptions options = shape(Schedule::Wsd);
  EXPECT_DOUBLE_EQ(learning_rate_share(options, 50, 111), 1.0);
  EXPECT_NEAR(learning_rate_share(options, 100, 111), 0.55, 0.02);
  EXPECT_NEAR(learning_rate_share(options, 110, 111), 0.1, 1e-12);
}

TEST(Schedule, OneStepIsSane) {
  EXPECT_DOUBLE_EQ(learning_rate_share(shape(Schedule::Cosine), 0, 1), 1.0);
}

TEST(Steps, AreRoundedUp) {
  TrainOptions options;
  options.batch = 4;
  options.length = 100;
  options.tokens = 401;
  EXPECT_EQ(n_steps(options), 2);
}

std::string fault(const std::function<void(TrainOptions&)>& change) {
  TrainOptions options;
  change(options);
  try {
    check(options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Check, NamesTheOption) {
  EXPECT_EQ(fault([](auto&) {}), "");
  EXPECT_EQ(fault([](auto& o) { o.tokens = 0; }), "--tokens must be positive, got 0");
  EXPECT_EQ(fault([](auto& o) { o.accumulate = 3; }), "--accumulate must divide --batch 16, got 3");
  EXPECT_EQ(fault([](auto& o) { o.min_lr = 2; }), "--min-lr must be in [0, 1], got 2");
  EXPECT_EQ(fault([](auto& o) { o.warmup = 1; }), "--warmup must be in [0, 1), got 1");
  EXPECT_EQ(fault([](auto& o) { o.beta2 = 1; }), "--beta2 must be in [0, 1), got 1");
  EXPECT_EQ(fault([](auto& o) { o.seed = -1; }), "--seed must be at least 0, got -1");
  EXPECT_EQ(fault([](auto& o) { o.clip = -1; }), "--clip must be at least 0, got -1");
}

}  // namespace
}  // namespace gyre::train
