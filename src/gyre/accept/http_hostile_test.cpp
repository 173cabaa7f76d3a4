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

struct Oddity {
  const char* name;
  Strings faults;
  const char* stream = "on";
};

Strings options_of(const Oddity& run) {
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

struct Hostile : Oddity {
  Fault expected = Fault::None;  // None = any fault
  double seconds = 10;           // of first byte and idle clock; twice that in all
};

void expect_fault(const Hostile& run) {
  SCOPED_TRACE(run.name);
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

const Hostile kBadBytes[] = {
    {{"cut json", {"bad_chunk:mode=cut"}}, Fault::Format},
    {{"html event", {"bad_chunk:mode=html"}}, Fault::Format},
    {{"nan", {"bad_chunk:mode=nan"}}, Fault::Format},
    {{"bad utf-8", {"bad_chunk:mode=utf8"}}, Fault::Format},
    {{"lone surrogate", {"bad_chunk:mode=surrogate"}}, Fault::Format},
    {{"deep nesting", {"bad_chunk:mode=deep"}}, Fault::Format},
    {{"deep body", {"bad_chunk:mode=deep"}, "off"}, Fault::Format},
    {{"cut body", {"bad_chunk:mode=cut"}, "off"}, Fault::Format},
    {{"half close", {"half_close"}}, Fault::Cut},
    {{"refused", {"refuse"}}, Fault::Connect},
    {{"reset", {"refuse:how=reset"}}, Fault::Connect},
    {{"redirect loop", {"redirect:loop=1"}}, Fault::Client},
    {{"no body", {"empty:mode=body"}, "off"}, Fault::Format},
    {{"short body", {"short_body"}, "off"}, Fault::Cut},
    {{"cut off", {"drop:after=100"}}, Fault::Cut},
    {{"cut off by reset", {"drop:after=100:how=reset"}}, Fault::Cut},
    {{"half of it", {"drop:after=100:how=half"}}, Fault::Cut},
    {{"cut off, no length", {"drop:after=100", "close_delimited"}}, Fault::None},
    {{"no end", {"sse_no_final"}}, Fault::NoEnd},
    {{"html", {"status:code=502:body=html"}}, Fault::Server},
    {{"200 with html", {"status:code=200:body=html"}}, Fault::Format},
    {{"200 with an error", {"status:code=200"}}, Fault::Server}};

const Hostile kHuge[] = {
    {{"event", {"huge_line:bytes=300000000"}}, Fault::TooMuch},
    {{"comment", {"huge_line:bytes=300000000:where=comment"}}, Fault::TooMuch},
    {{"header", {"huge_line:bytes=100000000:where=header"}}, Fault::TooMuch},
    {{"white space", {"huge_line:bytes=300000000"}, "off"}, Fault::TooMuch},
    {{"bomb", {"huge_line:bytes=100000000", "gzip:always=1"}}, Fault::TooMuch},
    {{"bomb, whole", {"huge_line:bytes=100000000", "gzip:always=1"}, "off"}, Fault::TooMuch},
    {{"endless", {"endless:text=newline"}}, Fault::TooMuch},
    {{"endless, whole", {"endless:text=newline"}, "off"}, Fault::TooMuch},
    {{"pings as fast as they go", {"pings:for_ms=0:every_ms=0"}}, Fault::None, kShort}};

const Hostile kSlow[] = {{{"pings for ever", {"pings:for_ms=0"}}, Fault::Deadline, kShort},
                         {{"slow header", {"slow_header:ms=200"}}, Fault::FirstByte, kShort},
                         {{"stall", {"stall:after=800"}}, Fault::Idle, kShort},
                         {{"stall before a word", {"stall:after=100"}}, Fault::FirstByte, kShort},
                         {{"silence", {"latency:a=60000"}}, Fault::FirstByte, kShort}};

TEST(HostileServer, BadBytesAreFaults) {
  for (const Hostile& run : kBadBytes) {
    expect_fault(run);
  }
}

TEST(HostileServer, AnswersWithoutMeasureAreCutOffInBoundedMemory) {
  for (const Hostile& run : kHuge) {
    expect_fault(run);
  }
}

TEST(HostileServer, EveryClockRunsOut) {
  for (const Hostile& run : kSlow) {
    expect_fault(run);
  }
}

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

void expect_answers(const Oddity& run) {
  SCOPED_TRACE(run.name);
  const MockServer server(options_of(run));
  EndpointOptions options;
  options.url = server.url();
  options.stream = run.stream;
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

const Oddity kLawful[] = {Oddity{"split", {"split:bytes=1"}},
                          Oddity{"split body", {"split:bytes=1"}, "off"},
                          Oddity{"gzip", {"gzip"}},
                          Oddity{"gzip body", {"gzip"}, "off"},
                          Oddity{"deflate", {"gzip:mode=deflate"}},
                          Oddity{"unasked", {"gzip:always=1"}},
                          Oddity{"split gzip", {"gzip", "split:bytes=3"}},
                          Oddity{"redirect", {"redirect"}},
                          Oddity{"redirect 301", {"redirect:code=301:hops=3"}},
                          Oddity{"interim", {"interim"}},
                          Oddity{"close delimited", {"close_delimited"}},
                          Oddity{"close delimited body", {"close_delimited"}, "off"},
                          Oddity{"silent close", {"silent_close"}},
                          Oddity{"end_turn", {"finish:word=end_turn"}},
                          Oddity{"nesting", {"nesting"}},
                          Oddity{"nesting body", {"nesting"}, "off"},
                          Oddity{"pings", {"pings:for_ms=200"}},
                          Oddity{"burst", {"burst"}},
                          Oddity{"no models", {"models:mode=missing"}},
                          Oddity{"models is html", {"models:mode=html"}},
                          Oddity{"crlf", {"sse_style:mode=crlf"}},
                          Oddity{"cr", {"sse_style:mode=cr"}},
                          Oddity{"no_space", {"sse_style:mode=no_space"}},
                          Oddity{"comments", {"sse_style:mode=comments"}},
                          Oddity{"event", {"sse_style:mode=event"}},
                          Oddity{"multiline", {"sse_style:mode=multiline"}},
                          Oddity{"bom", {"sse_style:mode=bom"}},
                          Oddity{"no_done", {"sse_style:mode=no_done"}},
                          Oddity{"usage_inline", {"sse_style:mode=usage_inline"}},
                          Oddity{"no_role", {"sse_style:mode=no_role"}},
                          Oddity{"plain_type", {"sse_style:mode=plain_type"}},
                          Oddity{"cr, split", {"sse_style:mode=cr", "split:bytes=1"}},
                          Oddity{"bom, split", {"sse_style:mode=bom", "split:bytes=1"}}};

TEST(LawfulOddities, ChangeNothing) {
  for (const Oddity& run : kLawful) {
    expect_answers(run);
  }
}

}  // namespace
}  // namespace gyre::accept
