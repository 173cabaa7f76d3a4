// Errors in the words of each server. The bodies are those of the servers named, as their sources
// or reports have them.
#include "gyre/accept/http_error.h"

#include <gtest/gtest.h>

namespace gyre::accept {
namespace {

Reply read(const std::string& body, int status) {
  Reply reply;
  classify(error_words(body).value_or(ErrorWords{}), status, reply);
  return reply;
}

struct Case {
  const char* server;
  int status;
  const char* body;
  Fault fault;
  int64_t limit, asked;  // 0 = not told
};

class Words : public testing::TestWithParam<Case> {};

TEST_P(Words, GiveFaultAndNumbers) {
  const Case& one = GetParam();
  const Reply reply = read(one.body, one.status);
  EXPECT_STREQ(name_of(reply.fault), name_of(one.fault));
  EXPECT_EQ(reply.limit_tokens.value_or(0), one.limit);
  EXPECT_EQ(reply.asked_tokens.value_or(0), one.asked);
  EXPECT_FALSE(reply.fault_text.empty());
}

const Case kOverflows[] = {
    {"llama.cpp", 400,
     R"({"error":{"code":400,"message":"request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}})",
     Fault::Overflow, 4096, 5000},
    {"vLLM", 400,
     R"({"error":{"message":"This model's maximum context length is 4096 tokens. However, your request has 5000 input tokens. Please reduce the length of the input messages.","type":"BadRequestError","param":null,"code":400}})",
     Fault::Overflow, 4096, 5000},
    {"vLLM, answer too long", 400,
     R"({"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 200. This model's maximum context length is 4096 tokens and your request has 4000 input tokens (200 > 4096 - 4000).","code":400}})",
     Fault::Overflow, 4096, 4000},
    {"vLLM, old", 400,
     R"({"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5200 tokens (5000 in the messages, 200 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400})",
     Fault::Overflow, 4096, 5000},
    {"Ollama", 400,
     R"({"error":{"message":"prompt too long; exceeded max context length by 17 tokens","type":"api_error","param":null,"code":null}})",
     Fault::Overflow, 0, 0},
    {"SGLang", 400,
     R"({"object":"error","message":"The input (5000 tokens) is longer than the model's context length (4096 tokens).","type":"BadRequestError","param":null,"code":400})",
     Fault::Overflow, 4096, 5000},
    {"SGLang, both", 400,
     R"({"object":"error","message":"Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a total of 4200 tokens: 4000 tokens from the input messages and 200 tokens for the completion.","code":400})",
     Fault::Overflow, 4096, 4000},
    {"TGI", 422,
     R"({"error":"Input validation error: `inputs` must have less than 4096 tokens. Given: 5000","error_type":"validation"})",
     Fault::Overflow, 4096, 5000},
    {"TGI, both", 422,
     R"({"error":"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 200 `max_new_tokens`","error_type":"validation"})",
     Fault::Overflow, 4096, 4000},
    {"OpenAI", 400,
     R"({"error":{"message":"This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}})",
     Fault::Overflow, 4097, 5000},
    {"Groq", 400,
     R"({"error":{"message":"Please reduce the length of the messages or completion.","type":"invalid_request_error","code":"context_length_exceeded"}})",
     Fault::Overflow, 0, 0},
    {"LM Studio", 400,
     R"({"error":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input"})",
     Fault::Overflow, 4096, 5000},
    {"llama-cpp-python", 400,
     R"({"error":{"message":"This model's maximum context length is 2048 tokens, however you requested 2560 tokens (2500 in your prompt; 60 for the completion). Please reduce your prompt; or completion length.","type":"invalid_request_error","code":"context_length_exceeded"}})",
     Fault::Overflow, 2048, 2500},
    {"xAI", 400,
     R"({"error":{"message":"This model's maximum prompt length is 131072 but the request contains 140000 tokens."}})",
     Fault::Overflow, 131072, 140000},
    {"Mistral", 400,
     R"({"error":{"message":"Prompt contains 40000 tokens, too large for model with 32768 maximum context length"}})",
     Fault::Overflow, 32768, 40000},
    {"Anthropic", 400,
     R"({"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}})",
     Fault::Overflow, 200000, 210000},
    {"Qwen", 400, R"({"error":{"message":"Range of input length should be [1, 30720]"}})",
     Fault::Overflow, 30720, 0},
    {"Kimi", 400,
     R"({"error":{"message":"Your request exceeded model token limit: 8192 (requested: 9000)"}})",
     Fault::Overflow, 8192, 9000
}
, {"Bedrock",       400, R"({"message":"Input is too long for requested model."})",
   Fault::Overflow, 0,   0},
    {"FastAPI",
     422,
     R"({"detail":[{"loc":["body"],"msg":"prompt too long: 5,000 tokens > 4,096 maximum"}]})",
     Fault::Overflow,
     4096,
     5000},
    {"llama.cpp, cache full",
     500,
     R"({"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}})",
     Fault::Overflow,
     0,
     0},
    {"nginx",
     413,
     "<html><head><title>413 Request Entity Too Large</title></head><body></body></html>",
     Fault::Overflow,
     0,
     0},
};
INSTANTIATE_TEST_SUITE_P(Overflow, Words, testing::ValuesIn(kOverflows));

const Case kOthers[] = {
    {"OpenAI, never", 429,
     R"({"error":{"message":"Request too large for model `m` in organization o on tokens per min (TPM): Limit 30000, Requested 342389. The input or output tokens must be reduced in order to run successfully.","type":"tokens","code":"rate_limit_exceeded"}})",
     Fault::RateLimit, 30000, 342389},
    {"Groq, never", 413,
     R"({"error":{"message":"Request too large for model `m` in organization `o` service tier `on_demand` on tokens per minute (TPM): Limit 8000, Requested 9500, please reduce your message size and try again.","type":"tokens","code":"rate_limit_exceeded"}})",
     Fault::RateLimit, 8000, 9500},
    {"OpenAI, later", 429,
     R"({"error":{"message":"Rate limit reached for m on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in 20s.","type":"requests","code":"rate_limit_exceeded"}})",
     Fault::Busy, 0, 0},
    {"OpenAI, no money", 429,
     R"({"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}})",
     Fault::Client, 0, 0},
    {"llama.cpp, loading", 503,
     R"({"error":{"code":503,"message":"Loading model","type":"unavailable_error"}})", Fault::Busy,
     0, 0},
    {"no words", 429, "", Fault::Busy, 0, 0},
    {"key", 401,
     R"({"error":{"message":"Incorrect API key provided.","type":"invalid_request_error"}})",
     Fault::Auth, 0, 0},
    {"model", 404,
     R"({"error":{"message":"The model `x` does not exist.","code":"model_not_found"}})",
     Fault::Client, 0, 0},
    {"gateway", 502, "<html><h1>502 Bad Gateway</h1></html>", Fault::Server, 0, 0},
    {"text", 504, "upstream request timeout", Fault::Server, 0, 0},
    {"parameter", 400, R"({"error":{"message":"logprobs must be at most 5, got 20"}})",
     Fault::Client, 0, 0},
    {"inside an answer", 200, R"({"error":{"message":"boom","code":400}})", Fault::Server, 0, 0},
    {"inside an answer, busy", 200, R"({"error":{"message":"boom","code":429}})", Fault::Busy, 0,
     0},
};
INSTANTIATE_TEST_SUITE_P(Other, Words, testing::ValuesIn(kOthers));

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
