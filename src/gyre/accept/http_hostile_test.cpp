// Servers that answer badly on purpose (case F01 of testing/mock_server/cases.json): no crash, no
// hang, bounded memory, every answer a fault; and lawful oddities (C01) that must change nothing.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "gyre/accept/http_subject.h"
#include "gyre/accept/mock_testing.h"

namespace gyre::accept {
namespace {

using Strings = std::vector<std::string>;

Ask question() {
  Ask ask;
  ask.messages = {{"user", "Checkpoint 1: KX7-3QD. What is the code of checkpoint 1?"}};
  ask.max_tokens = 32;
  return ask;
}

struct Run {
  const char* name;
  Strings faults;
  const char* stream = "on";
};

Strings options_of(const Run& run) {
  Strings options{"--dialect", "openai"};
  for (const std::string& fault : run.faults) {
    options.insert(options.end(), {"--fault", fault});
  }
  return options;
}

/// Peak resident memory of this process, MiB.
double peak_mib() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kib = 0;
  while (status >> word) {
    if (word == "VmHWM:") {
      status >> kib;
    }
  }
  return kib / 1024;
}

struct Hostile : Run {
  Fault expected = Fault::None;  // None = any fault
  double seconds = 10;           // of first byte and idle clock; twice that in all
};

class HostileServer : public testing::TestWithParam<Hostile> {};

TEST_P(HostileServer, GivesAFaultInTimeAndBoundedMemory) {
  const Hostile& run = GetParam();
  const MockServer server(options_of(run));
  EndpointOptions options;
  options.url = server.url();
  options.stream = run.stream;
  options.first_byte_s = options.idle_s = run.seconds;
  options.total_s = 2 * run.seconds;
  const auto subject = open_endpoint(options);
  const double before = peak_mib();
  const auto start = std::chrono::steady_clock::now();
  const Reply reply = subject->ask(question());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_NE(reply.fault, Fault::None) << reply.text;
  if (run.expected != Fault::None) {
    EXPECT_STREQ(name_of(reply.fault), name_of(run.expected)) << reply.fault_text;
  }
  EXPECT_FALSE(reply.fault_text.empty());
  EXPECT_LT(took.count(), 2 * run.seconds + 12);  // 12: a busy machine, and 0.2 s a token
  EXPECT_LT(peak_mib() - before, 200);
}

constexpr double kShort = 0.4;  // seconds: nothing useful comes anyway

INSTANTIATE_TEST_SUITE_P(
    F01, HostileServer,
    testing::Values(
        Hostile{{"cut json", {"bad_chunk:mode=cut"}}, Fault::Format},
        Hostile{{"html event", {"bad_chunk:mode=html"}}, Fault::Format},
        Hostile{{"nan", {"bad_chunk:mode=nan"}}, Fault::Format},
        Hostile{{"bad utf-8", {"bad_chunk:mode=utf8"}}, Fault::Format},
        Hostile{{"lone surrogate", {"bad_chunk:mode=surrogate"}}, Fault::Format},
        Hostile{{"deep nesting", {"bad_chunk:mode=deep"}}, Fault::Format},
        Hostile{{"deep body", {"bad_chunk:mode=deep"}, "off"}, Fault::Format},
        Hostile{{"cut body", {"bad_chunk:mode=cut"}, "off"}, Fault::Format},
        Hostile{{"huge event", {"huge_line:bytes=300000000"}}, Fault::TooMuch},
        Hostile{{"huge comment", {"huge_line:bytes=300000000:where=comment"}}, Fault::TooMuch},
        Hostile{{"huge header", {"huge_line:bytes=100000000:where=header"}}, Fault::TooMuch},
        Hostile{{"huge white space", {"huge_line:bytes=300000000"}, "off"}, Fault::TooMuch},
        Hostile{{"bomb", {"huge_line:bytes=100000000", "gzip:always=1"}}, Fault::TooMuch},
        Hostile{{"bomb, whole", {"huge_line:bytes=100000000", "gzip:always=1"}, "off"},
                Fault::TooMuch},
        Hostile{{"pings for ever", {"pings:for_ms=0"}}, Fault::Deadline, kShort},
        Hostile{{"pings as fast as they go", {"pings:for_ms=0:every_ms=0"}}, Fault::None, kShort},
        Hostile{{"half close", {"half_close"}}, Fault::Cut},
        Hostile{{"refused", {"refuse"}}, Fault::Connect},
        Hostile{{"reset", {"refuse:how=reset"}}, Fault::Connect},
        Hostile{{"slow header", {"slow_header:ms=200"}}, Fault::FirstByte, kShort},
        Hostile{{"stall", {"stall:after=200"}}, Fault::Idle, kShort},
        Hostile{{"redirect loop", {"redirect:loop=1"}}, Fault::Client},
        Hostile{{"no body", {"empty:mode=body"}, "off"}, Fault::Format},
        Hostile{{"short body", {"short_body"}, "off"}, Fault::Cut},
        Hostile{{"cut off", {"drop:after=100"}}, Fault::Cut},
        Hostile{{"cut off by reset", {"drop:after=100:how=reset"}}, Fault::Cut},
        Hostile{{"half of it", {"drop:after=100:how=half"}}, Fault::Cut},
        Hostile{{"cut off, no length", {"drop:after=100", "close_delimited"}}, Fault::None},
        Hostile{{"endless", {"endless:text=newline"}}, Fault::TooMuch},
        Hostile{{"endless, whole", {"endless:text=newline"}, "off"}, Fault::TooMuch},
        Hostile{{"silence", {"latency:a=60000"}}, Fault::FirstByte, kShort},
        Hostile{{"no end", {"sse_no_final"}}, Fault::NoEnd},
        Hostile{{"html", {"status:code=502:body=html"}}, Fault::Server},
        Hostile{{"200 with html", {"status:code=200:body=html"}}, Fault::Format},
        Hostile{{"200 with an error", {"status:code=200"}}, Fault::Server}));

TEST(HostileServer, APortWhereNobodyListensIsNoConnection) {
  EndpointOptions options;
  {
    const MockServer server({});
    options.url = server.url();
  }
  const auto subject = open_endpoint(options);
  const Reply reply = subject->ask(question());
  EXPECT_EQ(reply.fault, Fault::Connect);
  EXPECT_EQ(reply.http, 0);
  EXPECT_EQ(subject->discover().other.count("unreachable"), 1U);
}

class LawfulOddity : public testing::TestWithParam<Run> {};

TEST_P(LawfulOddity, ChangesNothing) {
  const MockServer server(options_of(GetParam()));
  EndpointOptions options;
  options.url = server.url();
  options.stream = GetParam().stream;
  const auto subject = open_endpoint(options);
  subject->discover();
  for (int i = 0; i < 3; ++i) {
    const Reply reply = subject->ask(question());
    EXPECT_EQ(reply.fault, Fault::None) << reply.fault_text;
    EXPECT_EQ(reply.text, "KX7-3QD");
    EXPECT_FALSE(reply.finish.empty());
    EXPECT_TRUE(reply.prompt_tokens) << "no usage";
  }
}

INSTANTIATE_TEST_SUITE_P(
    C01, LawfulOddity,
    testing::Values(
        Run{"split", {"split:bytes=1"}}, Run{"split body", {"split:bytes=1"}, "off"},
        Run{"gzip", {"gzip"}}, Run{"gzip body", {"gzip"}, "off"},
        Run{"deflate", {"gzip:mode=deflate"}}, Run{"unasked", {"gzip:always=1"}},
        Run{"split gzip", {"gzip", "split:bytes=3"}}, Run{"redirect", {"redirect"}},
        Run{"redirect 301", {"redirect:code=301:hops=3"}}, Run{"interim", {"interim"}},
        Run{"close delimited", {"close_delimited"}},
        Run{"close delimited body", {"close_delimited"}, "off"},
        Run{"silent close", {"silent_close"}}, Run{"end_turn", {"finish:word=end_turn"}},
        Run{"nesting", {"nesting"}}, Run{"nesting body", {"nesting"}, "off"},
        Run{"pings", {"pings:for_ms=200"}}, Run{"burst", {"burst"}},
        Run{"no models", {"models:mode=missing"}}, Run{"models is html", {"models:mode=html"}},
        Run{"crlf", {"sse_style:mode=crlf"}}, Run{"cr", {"sse_style:mode=cr"}},
        Run{"no_space", {"sse_style:mode=no_space"}}, Run{"comments", {"sse_style:mode=comments"}},
        Run{"event", {"sse_style:mode=event"}}, Run{"multiline", {"sse_style:mode=multiline"}},
        Run{"bom", {"sse_style:mode=bom"}}, Run{"no_done", {"sse_style:mode=no_done"}},
        Run{"usage_inline", {"sse_style:mode=usage_inline"}},
        Run{"no_role", {"sse_style:mode=no_role"}},
        Run{"plain_type", {"sse_style:mode=plain_type"}},
        Run{"cr, split", {"sse_style:mode=cr", "split:bytes=1"}},
        Run{"bom, split", {"sse_style:mode=bom", "split:bytes=1"}}));

}  // namespace
}  // namespace gyre::accept
