// The plan: counts by hand for small grids, money, time, what a model in process takes.
#include "gyre/accept/plan.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gyre/accept/record_testing.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

AcceptOptions level_one_of(std::vector<int64_t> lengths) {
  AcceptOptions options;
  options.lengths = std::move(lengths);
  options.levels = {1};
  options.curves = false;
  return options;
}

TEST(Plan, LevelOneIsTwelveRequestsAndThreeAFurtherLength) {
  const Plan one = plan(level_one_of({4096}));
  EXPECT_EQ(one.most.requests, 12);
  EXPECT_EQ(one.least.requests, 12);
  EXPECT_EQ(plan(level_one_of({1024, 4096, 16384})).most.requests, 18);
  EXPECT_EQ(one.most.prompt_tokens, 12 * (4096 - 200));
}

// Level 2 by default: 4 cells x 5 buckets. Looks 16 and 48: 320 and 640 requests a length. Baseline
// 4 x 5 x 10 and the question alone, 5 x 2. Controls of 8 items a bucket: 3 x 40 of the needle, 2 x
// 20 of the plain family.
TEST(Plan, LevelTwoCountsCellsBucketsAndLooks) {
  AcceptOptions options = level_one_of({4096});
  options.levels = {2};
  options.looks = {16, 48};
  const Plan planned = plan(options);
  EXPECT_EQ(planned.least.requests, 210 + 320 + 160);
  EXPECT_EQ(planned.most.requests, 210 + 320 + 640 + 160);
  ASSERT_EQ(planned.rows.size(), 4u);
  EXPECT_EQ(planned.rows[1].what, "level 2 retrieval, 4,096 tokens, look 1 of 2");
}

TEST(Plan, CellsThatALengthHasNoRoomForAreNotCounted) {
  AcceptOptions options = level_one_of({512});
  options.levels = {2};
  options.looks = {16};
  const Plan planned = plan(options);  // 31 distractors do not fit: 3 cells of 4
  EXPECT_EQ(planned.rows[1].requests, 3 * 5 * 16);
}

TEST(Plan, HugeNumbersKeepTheirColumnsApart) {
  AcceptOptions options = level_one_of({100'000'000});
  options.levels = {2};
  options.looks = {100'000};
  const std::string text = to_text(plan(options));
  EXPECT_NE(text.find("  2,000,000  199,999,968,000,000"), std::string::npos) << text;
}

TEST(Plan, RankingAndCurvesAreInIt) {
  AcceptOptions options = level_one_of({4096});
  options.levels = {2};
  options.looks = {16};
  options.ranking = "on";
  options.curves = true;
  // 2 x 5 x 16 twins at both lengths, 16 guesses, 18 copies at both; 3 timed at both.
  EXPECT_EQ(plan(options).most.requests, 160 + 160 + 16 + 36 + 6);
}

TEST(Plan, MoneyAndTimeAreThereWhenTheyAreKnown) {
  AcceptOptions options = level_one_of({4096});
  EXPECT_LT(plan(options).most.money, 0.0);
  EXPECT_LT(plan(options).most.seconds, 0.0);
  options.price_in = 2.0;
  options.price_out = 10.0;
  const Speed speed{0.5, 1e-4, 0.0, 100.0, true};
  const Plan planned = plan(options, speed);
  EXPECT_NEAR(planned.most.money, 12 * (3896 * 2.0 + 200 * 10.0) / 1e6, 1e-12);
  EXPECT_NEAR(planned.most.seconds, 12 * (0.5 + 0.3896 + 2.0), 1e-9);
}

TEST(Plan, AsJsonAndText) {
  const Plan planned = plan(level_one_of({4096}));
  const auto json = nlohmann::json::parse(to_json(planned));
  EXPECT_EQ(json.at("schema"), "gyre.accept_plan/1");
  EXPECT_EQ(json.at("most").at("requests"), 12);
  EXPECT_TRUE(json.at("most").at("money").is_null());
  EXPECT_TRUE(json.at("kv_bytes").is_null());
  EXPECT_NE(to_text(planned).find("money: not known; give --price-in and --price-out"),
            std::string::npos);
}

// Two layers of 2 x 4 keys and values in float32: 2 x 8 x 4 bytes a token and layer; the second
// keeps 10 tokens alone.
TEST(Plan, OfAModelInProcess) {
  LocalShape shape;
  shape.parameters = 100;
  shape.layers = {{4, 2, 4, 0}, {4, 2, 4, 10}};
  EXPECT_EQ(kv_bytes(shape, 100), 64.0 * 100 + 64.0 * 10);
  EXPECT_EQ(kv_bytes(shape, 5), 2 * 64.0 * 5);
  // 2 x 100 a token; 4 x 16 a pair: 5050 pairs, and 55 + 90 x 10 in the window.
  EXPECT_EQ(flops(shape, 100), 20000.0 + 64.0 * 5050 + 64.0 * 955);
  const Plan planned = plan(level_one_of({256}), {}, &shape);
  EXPECT_EQ(planned.kv_bytes, kv_bytes(shape, 328));
  EXPECT_NEAR(planned.most_flops, 12 * flops(shape, 328), 1.0);
}

// Two layers, 2 heads of 16 for keys and values, bfloat16.
TEST(Plan, ReadsTheShapeFromAConfig) {
  const testing::TempFolder temp;
  write_file_atomic(temp / "config.json", R"({"model_type": "llama", "num_hidden_layers": 2,
      "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2,
      "max_position_embeddings": 512, "rope_theta": 10000.0, "vocab_size": 100,
      "intermediate_size": 128})");
  const LocalShape shape = local_shape(temp / "config.json", 2);
  ASSERT_EQ(shape.layers.size(), 2u);
  EXPECT_EQ(kv_bytes(shape, 10), 2 * 2.0 * 2 * 16 * 2 * 10);
  EXPECT_EQ(shape.parameters, 0);
}

Sample timed(int64_t tokens, double seconds) {
  Sample s = testing::a_sample(tokens);
  s.reply.prompt_tokens = tokens;
  s.reply.completion_tokens = 11;
  s.reply.first_token_ms = 1000 * seconds;
  s.reply.total_ms = s.reply.first_token_ms + 100;
  return s;
}

TEST(Speed, IsFittedToTimedAnswers) {
  std::vector<Sample> samples;
  for (const int64_t n : {500, 1000, 4000, 16000}) {
    const auto x = static_cast<double>(n);
    samples.push_back(timed(n, 0.2 + 1e-4 * x + 1e-8 * x * x));
  }
  const Speed speed = fit_speed(samples);
  ASSERT_TRUE(speed.known);
  EXPECT_NEAR(speed.a, 0.2, 1e-6);
  EXPECT_NEAR(speed.b, 1e-4, 1e-9);
  EXPECT_NEAR(speed.c, 1e-8, 1e-12);
  EXPECT_NEAR(speed.answer_tokens_per_s, 100.0, 1e-9);
}

TEST(Speed, IsNotKnownFromOneSizeAndNeverNegative) {
  EXPECT_FALSE(fit_speed({timed(500, 1), timed(500, 2)}).known);
  EXPECT_FALSE(fit_speed({}).known);
  const Speed falling = fit_speed({timed(500, 2), timed(1000, 1)});
  EXPECT_GE(falling.a, 0.0);
  EXPECT_EQ(falling.b, 0.0);
}

}  // namespace
}  // namespace gyre::accept
