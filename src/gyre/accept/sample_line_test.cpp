// One line of samples.jsonl: everything that procedures and reports read comes back.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "gyre/accept/record.h"
#include "gyre/accept/record_testing.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

Sample full_sample() {
  Sample s = testing::a_sample(3, Verdict::Partial);
  s.attempt = 2;
  s.in_flight = 4;
  s.item.occasion = 1;
  s.item.arm = "swap";
  s.item.form = AnswerForm::Numbered;
  s.item.ask.top_logprobs = 20;
  s.item.ask.echo = true;
  s.item.ask.candidates = {" 7", " 8"};
  Reply& r = s.reply;
  r.fault = Fault::Server;
  r.fault_text = "n_ctx \"512\"";
  r.error_in_200 = true;
  r.reasoning = "hm";
  r.completion_tokens = 9;
  r.total_tokens = 4097;
  r.cached_tokens = 0;
  r.usage_disagrees = true;
  r.limit_tokens = 4096;
  r.asked_tokens = 5000;
  r.top = {{{" a", -0.1}, {"\xff\xfe", -2.25}}, {{"b", -std::numeric_limits<double>::infinity()}}};
  r.prompt_logprobs = {std::nullopt, -1.0 / 3.0};
  r.candidates = {-0.5, std::nullopt};
  r.candidate_bound = -7.5;
  r.connect_ms = 0.25;
  r.first_byte_ms = 1.5;
  r.first_token_ms = 2.5;
  r.total_ms = 1234.567;
  r.chunks = 9;
  r.burst = true;
  r.bytes = 4321;
  r.retry_after_s = 2.0;
  r.memory_mib = 100.5;
  return s;
}

TEST(SampleLine, KeepsTheItem) {
  const Sample before = full_sample();
  const Item item = sample_of(to_line(before, "run", Ending::Final)).item;
  EXPECT_EQ(item.sid, before.item.sid);
  EXPECT_EQ(item.level, 2);
  EXPECT_EQ(item.task, "needle");
  EXPECT_EQ(item.arm, "swap");
  EXPECT_EQ(item.length, 4096);
  EXPECT_EQ(item.occasion, 1);
  EXPECT_EQ(item.index, 3);
  EXPECT_EQ(item.dials, before.item.dials);
  EXPECT_EQ(item.form, AnswerForm::Numbered);
  EXPECT_EQ(item.gold, before.item.gold);
  EXPECT_EQ(item.distractors[0].code, "AAA-BBB");
  EXPECT_EQ(item.distractors[0].similarity, 2);
  EXPECT_EQ(item.distractors[0].fraction, 0.25);
  EXPECT_EQ(item.evidence[0].from_start, 2048);
  EXPECT_EQ(item.evidence[0].from_end, 2040);
  EXPECT_EQ(item.sentences, before.item.sentences);
  EXPECT_EQ(item.tokens_predicted, 4090);
  ASSERT_EQ(item.ask.messages.size(), 2u);
  EXPECT_EQ(item.ask.messages[0].role, "system");
  EXPECT_EQ(item.ask.top_logprobs, 20);
  EXPECT_TRUE(item.ask.echo);
  EXPECT_EQ(item.ask.candidates, before.item.ask.candidates);
}

TEST(SampleLine, KeepsTheReply) {
  const Sample before = full_sample();
  const Sample after = sample_of(to_line(before, "run", Ending::Final));
  const Reply& r = after.reply;
  EXPECT_EQ(after.verdict, Verdict::Partial);
  EXPECT_EQ(after.found, "KX7-3QD");
  EXPECT_EQ(after.attempt, 2);
  EXPECT_EQ(after.in_flight, 4);
  EXPECT_EQ(r.http, 200);
  EXPECT_EQ(r.fault, Fault::Server);
  EXPECT_EQ(r.fault_text, before.reply.fault_text);
  EXPECT_TRUE(r.error_in_200);
  EXPECT_EQ(r.text, "KX7-3QD");
  EXPECT_EQ(r.reasoning, "hm");
  EXPECT_EQ(r.finish, "stop");
  EXPECT_EQ(r.prompt_tokens, 4088);
  EXPECT_EQ(r.completion_tokens, 9);
  EXPECT_EQ(r.total_tokens, 4097);
  EXPECT_EQ(r.cached_tokens, 0);
  EXPECT_TRUE(r.usage_disagrees);
  EXPECT_EQ(r.limit_tokens, 4096);
  EXPECT_EQ(r.asked_tokens, 5000);
  EXPECT_TRUE(r.burst);
  EXPECT_EQ(r.bytes, 4321);
  EXPECT_EQ(r.chunks, 9);
  EXPECT_EQ(r.connect_ms, 0.25);
  EXPECT_EQ(r.first_byte_ms, 1.5);
  EXPECT_EQ(r.first_token_ms, 2.5);
  EXPECT_EQ(r.total_ms, 1234.567);
  EXPECT_EQ(r.retry_after_s, 2.0);
  EXPECT_EQ(r.memory_mib, 100.5);
}

// A replayed procedure compares log-probabilities for equality: they must come back to the bit.
TEST(SampleLine, KeepsLogProbabilitiesToTheBit) {
  const Reply r = sample_of(to_line(full_sample(), "run", Ending::Final)).reply;
  ASSERT_EQ(r.top.size(), 2u);
  EXPECT_EQ(r.top[0][0].text, " a");
  EXPECT_EQ(r.top[0][0].logprob, -0.1);
  EXPECT_EQ(r.top[0][1].text, "\xff\xfe");
  EXPECT_TRUE(std::isinf(r.top[1][0].logprob));
  EXPECT_EQ(r.prompt_logprobs, (std::vector<std::optional<double>>{std::nullopt, -1.0 / 3.0}));
  EXPECT_EQ(r.candidates, (std::vector<std::optional<double>>{-0.5, std::nullopt}));
  EXPECT_EQ(r.candidate_bound, -7.5);
}

TEST(SampleLine, UnknownNumbersStayUnknown) {
  const Reply r = sample_of(to_line(Sample{}, "run", Ending::Again)).reply;
  EXPECT_FALSE(r.prompt_tokens || r.completion_tokens || r.total_tokens || r.cached_tokens ||
               r.limit_tokens || r.asked_tokens || r.memory_mib);
  EXPECT_EQ(r.retry_after_s, -1);
}

TEST(SampleLine, HasOneLineAndNoPrompt) {
  Sample s = full_sample();
  s.item.ask.messages[1].content = "the secret of\nthe prompt";
  const std::string line = to_line(s, "run", Ending::Final);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find("the secret of"), std::string::npos);
  EXPECT_NE(line.find("\"prompt_bytes\":31"), std::string::npos);
}

TEST(SampleLine, SaysWhatIsNone) {
  try {
    sample_of("{\"schema\":\"gyre.study/1\"}");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::Format);
    EXPECT_NE(std::string(error.what()).find("not a sample of gyre.accept_sample/1"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace gyre::accept
