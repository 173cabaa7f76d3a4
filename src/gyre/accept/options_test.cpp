// What a user reads when an option of a run does not fit.
#include "gyre/accept/options.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

std::string message(const std::function<void(AcceptOptions&)>& change) {
  AcceptOptions options;
  change(options);
  try {
    check(options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Usage);
    return error.what();
  }
  return "no error";
}

TEST(AcceptOptions, DefaultsFit) {
  EXPECT_EQ(message([](AcceptOptions&) {}), "no error");
  EXPECT_EQ(message([](AcceptOptions& o) { o.send = R"({"options":{"num_ctx":4096}})"; }),
            "no error");
}

TEST(AcceptOptions, ListsRiseInsideTheirRange) {
  const std::string lengths =
      "accept: 'lengths' must be a rising list of prompt lengths in tokens from 64 to 100000000, ";
  EXPECT_EQ(message([](AcceptOptions& o) { o.lengths = {}; }), lengths + "got []");
  EXPECT_EQ(message([](AcceptOptions& o) { o.lengths = {10}; }), lengths + "got [10]");
  EXPECT_EQ(message([](AcceptOptions& o) {
              o.lengths = {4096, 1024};
            }),
            lengths + "got [4096,1024]");
  EXPECT_EQ(message([](AcceptOptions& o) {
              o.levels = {1, 4};
            }),
            "accept: 'levels' must be a rising list of levels from 1 to 3, got [1,4]");
  EXPECT_EQ(message([](AcceptOptions& o) {
              o.looks = {16, 16};
            }),
            "accept: 'looks' must be a rising list of items per bucket from 1 to 100000, got "
            "[16,16]");
}

TEST(AcceptOptions, ChoicesNameTheNearest) {
  EXPECT_EQ(message([](AcceptOptions& o) { o.api = "chatt"; }),
            "accept: 'api' must be one of auto, chat, completions, both, got 'chatt'; did you mean "
            "'chat'?");
  EXPECT_EQ(message([](AcceptOptions& o) { o.stream = "qqqqqq"; }),
            "accept: 'stream' must be one of auto, on, off, got 'qqqqqq'");
  EXPECT_EQ(message([](AcceptOptions& o) { o.ranking = "qqqqqq"; }),
            "accept: 'ranking' must be one of auto, on, off, got 'qqqqqq'");
}

TEST(AcceptOptions, CountsHaveBounds) {
  EXPECT_EQ(message([](AcceptOptions& o) { o.original_length = 8; }),
            "accept: 'original-length' must be from 64 to 100000000, got 8");
  EXPECT_EQ(message([](AcceptOptions& o) { o.context = -1; }),
            "accept: 'context' must be from 0 to 100000000, got -1");
  EXPECT_EQ(message([](AcceptOptions& o) { o.seed = -1; }),
            "accept: 'seed' must be from 0 to 9223372036854775807, got -1");
  EXPECT_EQ(message([](AcceptOptions& o) { o.concurrency = 0; }),
            "accept: 'concurrency' must be from 1 to 1024, got 0");
  EXPECT_EQ(message([](AcceptOptions& o) { o.max_tokens = -4; }),
            "accept: 'max-tokens' must be from 0 to 100000000, got -4");
  EXPECT_EQ(message([](AcceptOptions& o) { o.ask_above = -1; }),
            "accept: 'ask-above' must be from 0 to 9223372036854775807, got -1");
}

TEST(AcceptOptions, SharesAndPricesHaveBounds) {
  EXPECT_EQ(message([](AcceptOptions& o) { o.threshold = 1.5; }),
            "accept: 'threshold' must be in (0, 1], got 1.5");
  EXPECT_EQ(message([](AcceptOptions& o) { o.threshold = 0; }),
            "accept: 'threshold' must be in (0, 1], got 0");
  EXPECT_EQ(message([](AcceptOptions& o) { o.alpha = 0.5; }),
            "accept: 'alpha' must be in (0, 0.5), got 0.5");
  EXPECT_EQ(message([](AcceptOptions& o) { o.price_in = -2; }),
            "accept: 'price-in' must be money per million tokens, 0 or more, got -2");
  EXPECT_EQ(
      message([](AcceptOptions& o) { o.price_out = std::numeric_limits<double>::infinity(); }),
      "accept: 'price-out' must be money per million tokens, 0 or more, got inf");
}

TEST(AcceptOptions, SendIsAnObjectWithoutTheRunsOwnFields) {
  const std::string object =
      "accept: 'send' must be a JSON object such as {\"options\":{\"num_ctx\":16384}}, got ";
  EXPECT_EQ(message([](AcceptOptions& o) { o.send = "num_ctx=4"; }), object + "num_ctx=4");
  EXPECT_EQ(message([](AcceptOptions& o) { o.send = "[1]"; }), object + "[1]");
  EXPECT_EQ(message([](AcceptOptions& o) { o.send = R"({"prompt":"x"})"; }),
            "accept: 'send' may not hold 'prompt': the run sets it itself");
}

}  // namespace
}  // namespace gyre::accept
