// Bodies of requests, and what the client gives way to.
#include "gyre/accept/http_request.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gyre::accept {
namespace {

using nlohmann::json;

Ask ask_of(Api api) {
  Ask ask;
  ask.api = api;
  ask.messages = {{"system", "be brief"}, {"user", "one"}};
  ask.max_tokens = 7;
  return ask;
}

Manner manner_of() {
  Manner manner;
  manner.model = "m";
  return manner;
}

Reply refusal(const std::string& words) {
  Reply reply;
  reply.http = 400;
  reply.fault = Fault::Client;
  reply.fault_text = words;
  return reply;
}

TEST(RequestBody, HasWhatAChatNeedsAndNothingElse) {
  EXPECT_EQ(json::parse(request_body(ask_of(Api::Chat), manner_of(), "")), json::parse(R"({
    "model": "m", "temperature": 0, "max_tokens": 7, "stream": true,
    "stream_options": {"include_usage": true},
    "messages": [{"role": "system", "content": "be brief"},
                 {"role": "user", "content": "one"}]})"));
}

TEST(RequestBody, OfACompletionWithEcho) {
  Ask ask = ask_of(Api::Completions);
  ask.messages = {{"user", "one"}};
  ask.echo = true;
  EXPECT_EQ(json::parse(request_body(ask, Manner{}, "")), json::parse(R"({"temperature": 0,
    "max_tokens": 7, "stream": false, "prompt": "one", "echo": true, "logprobs": 1})"));
}

TEST(RequestBody, AsksForLogprobsInEachEndpointsWay) {
  Ask ask = ask_of(Api::Chat);
  ask.candidates = {"7"};
  const json chat = json::parse(request_body(ask, manner_of(), ""));
  EXPECT_EQ(chat["logprobs"], true);
  EXPECT_EQ(chat["top_logprobs"], 20);
  ask.api = Api::Completions;
  EXPECT_EQ(json::parse(request_body(ask, manner_of(), ""))["logprobs"], 20);
}

TEST(RequestBody, WhatTheUserSendsWins) {
  const json body = json::parse(
      request_body(ask_of(Api::Chat), manner_of(),
                   R"({"temperature": null, "max_tokens": 9, "options": {"num_ctx": 16384}})"));
  EXPECT_FALSE(body.contains("temperature"));
  EXPECT_EQ(body["max_tokens"], 9);
  EXPECT_EQ(body["options"]["num_ctx"], 16384);
}

TEST(RequestBody, KeepsOddBytes) {
  Ask ask = ask_of(Api::Chat);
  ask.messages[1].content = std::string("a\0b\r\n\xf0\x9f\x98\x80<|endoftext|>", 23);
  const json body = json::parse(request_body(ask, manner_of(), ""));
  EXPECT_EQ(body["messages"][1]["content"], ask.messages[1].content);
}

TEST(GiveWay, ToAServerThatDoesNotStream) {
  Manner manner = manner_of();
  const Ask ask = ask_of(Api::Chat);
  EXPECT_TRUE(give_way(ask, refusal("Streaming is not supported"), manner));
  EXPECT_EQ(json::parse(request_body(ask, manner, ""))["stream"], false);
  EXPECT_FALSE(give_way(ask, refusal("Streaming is not supported"), manner));
  Manner insists = manner_of();
  insists.may_stop_streaming = false;
  EXPECT_FALSE(give_way(ask, refusal("Streaming is not supported"), insists));
}

TEST(GiveWay, ToOtherNamesAndBounds) {
  Manner manner = manner_of();
  Ask ask = ask_of(Api::Chat);
  ask.top_logprobs = 20;
  EXPECT_TRUE(give_way(ask, refusal("stream_options: extra fields not permitted"), manner));
  EXPECT_TRUE(give_way(ask,
                       refusal("Unsupported parameter: 'max_tokens' is not supported with this "
                               "model. Use 'max_completion_tokens' instead."),
                       manner));
  EXPECT_TRUE(give_way(ask, refusal("logprobs must be at most 5, got 20"), manner));
  const json body = json::parse(request_body(ask, manner, ""));
  EXPECT_FALSE(body.contains("stream_options"));
  EXPECT_FALSE(body.contains("max_tokens"));
  EXPECT_EQ(body["max_completion_tokens"], 7);
  EXPECT_EQ(body["top_logprobs"], 5);
  EXPECT_EQ(body["stream"], true);
}

TEST(GiveWay, NotToFaultsThatOnlyNameAField) {
  Manner manner = manner_of();
  Reply overflow = refusal("'max_tokens' or 'max_completion_tokens' is too large: 200");
  overflow.fault = Fault::Overflow;
  EXPECT_FALSE(give_way(ask_of(Api::Chat), overflow, manner));
  EXPECT_FALSE(give_way(ask_of(Api::Chat), refusal("the model does not exist"), manner));
  Reply broken = refusal("upstream error");
  broken.fault = Fault::Server;
  EXPECT_FALSE(give_way(ask_of(Api::Chat), broken, manner));
}

}  // namespace
}  // namespace gyre::accept
