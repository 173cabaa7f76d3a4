// The client against the mock server: plain answers in every dialect, adaptation to refusals.
#include "gyre/accept/http_subject.h"

#include <gtest/gtest.h>

#include "gyre/accept/mock_testing.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr const char* kText =
    "Checkpoint 1: KX7-3QD. The mill is old. What is the code of checkpoint 1?";

Ask chat(const std::string& text = kText, int64_t max_tokens = 32) {
  Ask ask;
  ask.messages = {{"user", text}};
  ask.max_tokens = max_tokens;
  return ask;
}

Ask completion(const std::string& text = kText, int64_t max_tokens = 32) {
  Ask ask = chat(text, max_tokens);
  ask.api = Api::Completions;
  return ask;
}

EndpointOptions at(const MockServer& server, const std::string& stream = "auto") {
  EndpointOptions options;
  options.url = server.url();
  options.stream = stream;
  return options;
}

class Dialect : public testing::TestWithParam<const char*> {};

TEST_P(Dialect, AnswersChatsAndCompletionsStreamedOrNot) {
  const MockServer server({"--dialect", GetParam()});
  for (const char* stream : {"on", "off"}) {
    const auto subject = open_endpoint(at(server, stream));
    subject->discover();
    for (const Ask& ask : {chat(), completion()}) {
      const Reply reply = subject->ask(ask);
      EXPECT_EQ(reply.fault, Fault::None) << reply.fault_text;
      EXPECT_EQ(reply.text, "KX7-3QD") << stream;
      EXPECT_EQ(reply.finish, "stop");
      EXPECT_EQ(reply.http, 200);
      EXPECT_GT(reply.prompt_tokens.value_or(0), 10);
      EXPECT_FALSE(reply.usage_disagrees);
      EXPECT_GT(reply.first_byte_ms, 0);
      EXPECT_GE(reply.total_ms, reply.first_byte_ms);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, Dialect,
                         testing::Values("llamacpp", "vllm", "vllm_old", "ollama", "sglang", "tgi",
                                         "openai", "groq", "lmstudio", "llamacpp_python"));

}  // namespace
}  // namespace gyre::accept
