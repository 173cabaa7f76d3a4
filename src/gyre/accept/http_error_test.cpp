// Errors in the words of each server: testdata/server_errors.jsonl holds bodies as the sources or
// users of the servers named there have them.
#include "gyre/accept/http_error.h"

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace gyre::accept {
namespace {

Reply read(const std::string& body, int status) {
  Reply reply;
  classify(error_words(body).value_or(ErrorWords{}), status, reply);
  return reply;
}

TEST(ErrorWords, GiveFaultAndNumbersInEveryDialect) {
  std::ifstream file(GYRE_SOURCE_DIR "/src/gyre/accept/testdata/server_errors.jsonl");
  int64_t n = 0;
  for (std::string line; std::getline(file, line); ++n) {
    const auto one = nlohmann::json::parse(line);
    const Reply reply = read(one["body"], one["status"]);
    const auto number = [&](const char* key) {
      return one[key].is_null() ? -1 : one[key].get<int64_t>();
    };
    EXPECT_EQ(name_of(reply.fault), one["fault"]) << line;
    EXPECT_EQ(reply.limit_tokens.value_or(-1), number("limit")) << line;
    EXPECT_EQ(reply.asked_tokens.value_or(-1), number("asked")) << line;
    EXPECT_FALSE(reply.fault_text.empty());
  }
  EXPECT_GE(n, 30);
}

TEST(ErrorWords, AnAnswerIsNoError) {
  EXPECT_FALSE(error_words(R"({"choices":[],"usage":{}})"));
}

TEST(ErrorWords, AreOneHarmlessLine) {
  const Reply reply = read("a\nb\t\x01<b>c</b>\xff\xed\xa0\x80 " + std::string(5000, 'x'), 500);
  EXPECT_EQ(reply.fault_text.substr(0, 7), "a b c ?");
  EXPECT_EQ(reply.fault_text.find('\n'), std::string::npos);
  EXPECT_LE(reply.fault_text.size(), 504U);
}

TEST(RetryAfter, IsReadInEveryForm) {
  EXPECT_EQ(retry_after_s("7", "", 0), 7);
  EXPECT_EQ(retry_after_s("0.25", "", 0), 0.25);
  EXPECT_EQ(retry_after_s("7", "150", 0), 0.15);  // the finer one counts
  // RFC 9110, section 5.6.7: this date is 784111777 seconds after 1970.
  EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:49:37 GMT", "", 784111767), 10);
  EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:49:37 GMT", "", 784111999), 0);
  for (const char* none : {"", "soon", "-1", "nan", "1e9999", "Sun, 99 Nov 1994 08:49:37 GMT"}) {
    EXPECT_EQ(retry_after_s(none, "", 0), -1) << none;
  }
  EXPECT_EQ(retry_after_s("99999999999", "", 0), 1e6);
}

TEST(RetryAfter, IsReadOutOfWords) {
  EXPECT_EQ(retry_after_in("Please try again in 20s."), 20);
  EXPECT_EQ(retry_after_in("Please try again in 1.5s."), 1.5);
  EXPECT_EQ(retry_after_in("try again in 200ms"), 0.2);
  EXPECT_EQ(retry_after_in("Try again in 6m0s"), 360);
  EXPECT_EQ(retry_after_in("try again in 1h2m3.5s."), 3723.5);
  EXPECT_EQ(retry_after_in("retry after 20 seconds"), 20);
  EXPECT_EQ(retry_after_in("wait 2 minutes"), 120);
  EXPECT_EQ(retry_after_in("server busy, please try again. maximum pending"), -1);
  EXPECT_EQ(retry_after_in("try again in a while"), -1);
}

}  // namespace
}  // namespace gyre::accept
