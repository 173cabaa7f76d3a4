#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "gyre/accept/level1/testing.h"

namespace gyre::accept {
namespace {

constexpr const char* kWhole = "xxxxxxxxxxxxxxxx";
constexpr double kSlow = 60;
using Names = std::set<std::string>;

Names names(const std::vector<Seen>& all) {
  Names found;
  for (const Finding& finding : diagnose_replies(all, kSlow)) {
    found.insert(finding.id);
    EXPECT_FALSE(finding.evidence.empty());
  }
  return found;
}

Seen changed(int64_t tokens, const std::function<void(Reply&)>& change) {
  Sample sample = testing::roll_call(kWhole, tokens);
  change(sample.reply);
  return see(sample, testing::four_bytes());
}

std::vector<Seen> both(const std::function<void(Reply&)>& change) {
  return {changed(1000, change), changed(4000, change)};
}

TEST(Replies, CleanOnesSayNothing) {
  EXPECT_EQ(names(both([](Reply&) {})), Names());
}

TEST(Replies, UsageMissingAndZero) {
  EXPECT_EQ(names(both([](Reply& reply) { reply.prompt_tokens.reset(); })), Names{"USAGE_MISSING"});
  EXPECT_EQ(names(both([](Reply& reply) { reply.prompt_tokens = 0; })), Names{"USAGE_ZERO"});
}

TEST(Replies, CountsThatContradict) {
  const Names wanted{"USAGE_INCONSISTENT"};
  EXPECT_EQ(names(both([](Reply& reply) { reply.usage_disagrees = true; })), wanted);
  EXPECT_EQ(names(both([](Reply& reply) {
              reply.completion_tokens = 10;
              reply.total_tokens = *reply.prompt_tokens + 27;
            })),
            wanted);
  EXPECT_EQ(names(both([](Reply& reply) { reply.prompt_tokens = 900; })), wanted);
}

TEST(Replies, StreamsThatBreak) {
  EXPECT_EQ(names({changed(1000, [](Reply& reply) { reply.fault = Fault::NoEnd; })}),
            Names{"STREAM_NO_END"});
  EXPECT_EQ(names({changed(1000,
                           [](Reply& reply) {
                             reply.fault = Fault::Overflow;
                             reply.error_in_200 = true;
                           })}),
            Names{"ERROR_IN_200_STREAM"});
  EXPECT_EQ(names({changed(1000,
                           [](Reply& reply) {
                             reply.fault = Fault::Connect;
                             reply.http = 0;
                           })}),
            Names());
}

TEST(Replies, SlowFirstByte) {
  EXPECT_EQ(names(both([](Reply& reply) { reply.first_byte_ms = 61000; })),
            Names{"SLOW_FIRST_BYTE"});
  EXPECT_EQ(names(both([](Reply& reply) { reply.first_byte_ms = 59000; })), Names());
  Seen queued = changed(1000, [](Reply& reply) { reply.first_byte_ms = 61000; });
  queued.sample.in_flight = 4;
  EXPECT_EQ(names({queued}), Names());
}

TEST(Replies, Thoughts) {
  EXPECT_EQ(names(both([](Reply& reply) { reply.reasoning.swap(reply.text); })),
            Names{"EMPTY_WITH_REASONING"});
  EXPECT_EQ(names(both([](Reply& reply) { reply.text = "<think>hm</think>" + reply.text; })),
            Names{"THINK_IN_CONTENT"});
}

TEST(Replies, ALimitThatWaitingDoesNotLift) {
  EXPECT_EQ(names({changed(12000,
                           [](Reply& reply) {
                             reply.fault = Fault::RateLimit;
                             reply.limit_tokens = 8000;
                           })}),
            Names{"RATE_UNSATISFIABLE"});
}

}  // namespace
}  // namespace gyre::accept
