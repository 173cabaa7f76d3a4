// Server-sent events: every line end and split gives the same events; bounded whatever comes.
// The format is that of the HTML standard, section 9.2.6.
#include "gyre/accept/http_sse.h"

#include <gtest/gtest.h>

#include <vector>

namespace gyre::accept {
namespace {

/// Events in short: "kind|event|data".
std::vector<std::string> events_of(const std::string& bytes, size_t piece = 1 << 20,
                                   int64_t most = 1 << 20) {
  std::vector<std::string> events;
  const auto sink = [&](const SseEvent& event) {
    constexpr const char* kKinds[] = {"data", "error", "junk"};
    events.push_back(std::string(kKinds[static_cast<int>(event.kind)]) + "|" + event.event + "|" +
                     event.data);
  };
  SseParser parser(most);
  for (size_t at = 0; at < bytes.size(); at += piece) {
    if (!parser.feed(std::string_view(bytes).substr(at, piece), sink)) {
      events.push_back("too much");
      return events;
    }
  }
  parser.finish(sink);
  return events;
}

using Events = std::vector<std::string>;

TEST(Sse, TakesEveryLineEnd) {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    EXPECT_EQ(events_of("data: a" + end + end + "data: b" + end + "data: c" + end + end),
              (Events{"data||a", "data||b\nc"}));
  }
}

TEST(Sse, SplitsChangeNothing) {
  const std::string bytes =
      "\xef\xbb\xbf: hello\r\n\r\nevent: note\rid: 7\rretry: 10\r\rdata:x\n\ndata: \n\n"
      "data: {\"a\":\r\ndata: 1}\r\n\r\nerror: {\"code\":400}\n\ndata: [DONE]\n\n";
  const Events whole = events_of(bytes);
  EXPECT_EQ(whole,
            (Events{"data||x", "data||{\"a\":\n1}", "error||{\"code\":400}", "data||[DONE]"}));
  for (size_t piece = 1; piece < 9; ++piece) {
    EXPECT_EQ(events_of(bytes, piece), whole) << piece;
  }
}

TEST(Sse, KeepsTheNameOfAnEvent) {
  EXPECT_EQ(events_of("event: error\ndata: bad\n\ndata: good\n\n"),
            (Events{"data|error|bad", "data||good"}));
}

TEST(Sse, StripsOneSpaceAndOneMark) {
  EXPECT_EQ(events_of("\xef\xbb\xbf"
                      "data:  two spaces\n\n"),
            Events{"data|| two spaces"});
  EXPECT_EQ(events_of("data\n\ndata:\n\n"), Events{});  // lawful and empty: no event
}

TEST(Sse, AStreamMayEndWithoutItsBlankLine) {
  EXPECT_EQ(events_of("data: a\n\ndata: b\n"), (Events{"data||a", "data||b"}));
  EXPECT_EQ(events_of("data: a\n\ndata: b"), (Events{"data||a", "data||b"}));
}

TEST(Sse, WhatIsNoFieldIsTold) {
  EXPECT_EQ(events_of("<html>bad</html>\n\n"), Events{"junk||<html>bad</html>"});
  EXPECT_EQ(events_of("{\"error\": \"x\"}\n"), Events{"junk||{\"error\": \"x\"}"});
  EXPECT_EQ(events_of("unknown: field\n\n"), Events{});  // the standard says: ignore it
}

TEST(Sse, LongLinesAndEventsAreTooMuchAndCommentsAreNotKept) {
  EXPECT_EQ(events_of("data: " + std::string(200, 'x'), 7, 100), Events{"too much"});
  std::string many;
  for (int i = 0; i < 30; ++i) {
    many += "data: 0123456789\n";
  }
  EXPECT_EQ(events_of(many, 7, 100), Events{"too much"});
  EXPECT_EQ(events_of(":" + std::string(10'000, 'x') + "\ndata: a\n\n", 7, 100), Events{"data||a"});
}

}  // namespace
}  // namespace gyre::accept
