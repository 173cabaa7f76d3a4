// Answers in the shapes that servers send: bodies, streams, usage, log-probabilities.
#include "gyre/accept/http_reply.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gyre::accept {
namespace {

Ask ask_of(Api api = Api::Chat) {
  Ask ask;
  ask.api = api;
  ask.messages = {{"user", "one two"}};
  return ask;
}

Reply read(const std::string& bytes, const Ask& ask = ask_of(), int status = 200,
           size_t piece = 1 << 20) {
  ReplyReader reader(ask, 1 << 20);
  for (size_t at = 0; at < bytes.size(); at += piece) {
    reader.feed(std::string_view(bytes).substr(at, piece), status, static_cast<double>(at));
  }
  Transfer transfer;
  transfer.status = status;
  return reader.finish(transfer);
}

std::string events(std::initializer_list<std::string> data) {
  std::string stream;
  for (const std::string& one : data) {
    stream += "data: " + one + "\n\n";
  }
  return stream;
}

std::string delta(const std::string& fields, const std::string& finish = "null") {
  return R"({"choices":[{"index":0,"delta":{)" + fields + R"(},"finish_reason":)" + finish + "}]}";
}

TEST(Body, GivesTextFinishAndUsage) {
  const Reply reply =
      read(R"({"choices":[{"index":0,"message":{"role":"assistant","content":"KX7"},)"
           R"("finish_reason":"stop"}],"usage":{"prompt_tokens":12,"completion_tokens":3,)"
           R"("total_tokens":15,"prompt_tokens_details":{"cached_tokens":8}}})");
  EXPECT_EQ(reply.fault, Fault::None) << reply.fault_text;
  EXPECT_EQ(reply.text, "KX7");
  EXPECT_EQ(reply.finish, "stop");
  EXPECT_EQ(reply.prompt_tokens, 12);
  EXPECT_EQ(reply.completion_tokens, 3);
  EXPECT_EQ(reply.total_tokens, 15);
  EXPECT_EQ(reply.cached_tokens, 8);
  EXPECT_TRUE(reply.burst);
  EXPECT_FALSE(reply.usage_disagrees);
}

TEST(Body, TextStandsWhereACompletionHasIt) {
  EXPECT_EQ(read(R"({"choices":[{"text":" KX7","finish_reason":"length"}]})").text, " KX7");
}

TEST(Body, NumbersMayBeTexts) {
  const Reply reply = read(
      R"({"choices":[],"usage":{"prompt_tokens":"12","completion_tokens":3.0,"total_tokens":-1}})");
  EXPECT_EQ(reply.prompt_tokens, 12);
  EXPECT_EQ(reply.completion_tokens, 3);
  EXPECT_FALSE(reply.total_tokens);
}

TEST(Body, WithoutTextItIsStillAnAnswer) {
  for (const char* body :
       {R"({"choices":[{"message":{"content":null},"finish_reason":"stop"}]})", R"({"choices":[]})",
        R"({"choices":[{"message":{},"finish_reason":"stop"}],"usage":null})"}) {
    const Reply reply = read(body);
    EXPECT_EQ(reply.fault, Fault::None) << body;
    EXPECT_EQ(reply.text, "");
    EXPECT_FALSE(reply.prompt_tokens);
  }
}

TEST(Body, WhiteSpaceBeforeItCostsNothing) {
  ReplyReader reader(ask_of(), 1000);
  for (int i = 0; i < 10'000; ++i) {
    ASSERT_EQ(reader.feed(std::string(1000, '\n'), 200, 0), Take::More);
  }
  reader.feed(R"({"choices":[{"text":"a"}]})", 200, 0);
  Transfer transfer;
  transfer.status = 200;
  EXPECT_EQ(reader.finish(transfer).text, "a");
}

TEST(Stream, IsEarlyUntilAWordOfTheAnswerCame) {
  ReplyReader reader(ask_of(), 1 << 20);
  EXPECT_EQ(reader.feed(": ping\n\n", 200, 1), Take::Early);
  EXPECT_EQ(reader.feed(events({delta(R"("role":"assistant")")}), 200, 2), Take::Early);
  EXPECT_EQ(reader.feed(events({delta(R"("content":"KX7")")}), 200, 3), Take::More);
  EXPECT_EQ(reader.feed(events({delta("", "\"stop\"")}), 200, 4), Take::More);
  Transfer transfer;
  transfer.status = 200;
  EXPECT_EQ(reader.finish(transfer).first_token_ms, 3);
}

TEST(Stream, AnEmptyAnswerThatHasItsEndIsNoLongerEarly) {
  ReplyReader reader(ask_of(), 1 << 20);
  EXPECT_EQ(reader.feed(events({delta("", "\"stop\"")}), 200, 1), Take::More);
}

TEST(Stream, AnErrorWhoseWordsBreakItsJsonIsOne) {
  for (const char* event :
       {"data: {\"error\": \"no key \"positions\" here\"}\n\n",
        "data: {\"error\": \"no key 'positions' here\nSearch for it\nhttps://a.b: c\"}\n\n"}) {
    const Reply reply = read(event);
    EXPECT_EQ(reply.fault, Fault::Server) << reply.fault_text;
    EXPECT_TRUE(reply.error_in_200);
    EXPECT_NE(reply.fault_text.find("no key"), std::string::npos) << reply.fault_text;
  }
  EXPECT_EQ(read("data: {\"error\": \"index out of range in self\"}\n\n").fault, Fault::Overflow);
}

TEST(Body, ReasoningStandsApart) {
  for (const char* field : {"reasoning_content", "reasoning", "thinking"}) {
    const Reply reply = read(std::string(R"({"choices":[{"message":{"content":"a",")") + field +
                             R"(":"hm"},"finish_reason":"stop"}]})");
    EXPECT_EQ(reply.text, "a");
    EXPECT_EQ(reply.reasoning, "hm") << field;
  }
  const Reply parts =
      read(R"({"choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text",)"
           R"("text":"hm"}]},{"type":"text","text":"a"}]},"finish_reason":"stop"}]})");
  EXPECT_EQ(parts.text + "|" + parts.reasoning, "a|hm");
}

TEST(Body, WhatIsNoAnswerIsAFormatFault) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "an answer without a body"},
      {"  \n ", "an answer without a body"},
      {R"({"choices":[{"me)", "the answer is not JSON"},
      {"<html><body>Welcome</body></html>", "the answer is not JSON"},
      {R"({"choices":[{"index":NaN}]})", "the answer is not JSON"},
      {"{\"choices\":[{\"text\":\"\xff\"}]}", "the answer is not JSON"},
      {"{\"choices\":[{\"text\":\"\\ud83d\"}]}", "the answer is not JSON"},
      {deep, "the answer is JSON nested deeper than 100"},
      {R"({"models":[]})", "the answer holds no choices"},
      {"7", "an event of the stream is no JSON object"}};
  for (const auto& [body, why] : cases) {
    const Reply reply = read(body);
    EXPECT_EQ(reply.fault, Fault::Format) << body.substr(0, 50);
    EXPECT_EQ(reply.fault_text.substr(0, why.size()), why);
  }
}

TEST(Body, AnErrorInAGoodAnswerIsOne) {
  const Reply reply = read(R"({"error":{"message":"the context size is exceeded","code":400}})");
  EXPECT_EQ(reply.fault, Fault::Overflow);
  EXPECT_TRUE(reply.error_in_200);
  EXPECT_EQ(reply.fault_text, "the context size is exceeded");
}

TEST(Stream, JoinsItsPiecesAtAnySplit) {
  const std::string stream =
      events({delta(R"("role":"assistant","content":"")"), delta(R"("content":"KX\u00e9")"),
              delta(R"("content":"\u65e5-")"), delta("", "\"stop\""),
              R"({"choices":[],"usage":{"prompt_tokens":12,"completion_tokens":2}})", "[DONE]"});
  for (const size_t piece : {1, 2, 3, 7, 1000}) {
    const Reply reply = read(stream, ask_of(), 200, piece);
    EXPECT_EQ(reply.fault, Fault::None) << reply.fault_text;
    EXPECT_EQ(reply.text, "KX\u00e9\u65e5-");
    EXPECT_EQ(reply.finish, "stop");
    EXPECT_EQ(reply.prompt_tokens, 12);
    EXPECT_EQ(reply.burst, piece == 1000);
    EXPECT_FALSE(reply.error_in_200);
  }
}

TEST(Stream, UsageBesideTheLastChoiceAndInEveryChunk) {
  const auto chunk = [](const std::string& text, int prompt, const char* finish) {
    return R"({"choices":[{"text":")" + text + R"(","finish_reason":)" + finish +
           R"(}],"usage":{"prompt_tokens":)" + std::to_string(prompt) + "}}";
  };
  const Reply same = read(events({chunk("a", 9, "null"), chunk("b", 9, "\"stop\"")}));
  EXPECT_EQ(same.prompt_tokens, 9);
  EXPECT_FALSE(same.usage_disagrees);
  const Reply other = read(events({chunk("a", 512, "null"), chunk("b", 900, "\"stop\"")}));
  EXPECT_EQ(other.prompt_tokens, 900);
  EXPECT_TRUE(other.usage_disagrees);
}

TEST(Stream, WithoutAnEndIsAFault) {
  EXPECT_EQ(read(events({delta(R"("content":"a")")})).fault, Fault::NoEnd);
  EXPECT_EQ(read(events({delta(R"("content":"a")"), "[DONE]"})).fault, Fault::NoEnd);
  EXPECT_EQ(read(": ping\n\n: ping\n\n").fault, Fault::NoEnd);
}

TEST(Stream, ErrorsInsideAreReadWhereverTheyStand) {
  const std::string error =
      R"x({"code":400,"message":"request (5000 tokens) exceeds the available context size)x"
      R"x( (4096 tokens)","type":"exceed_context_size_error"})x";
  const std::string wrapped = R"({"error":)" + error + "}";
  const std::string in_choice =
      R"({"choices":[{"delta":{},"finish_reason":"error","error":)" + error + "}]}";
  for (const std::string& stream :
       {events({wrapped}), "error: " + error + "\n\n", "event: error\ndata: " + error + "\n\n",
        events({delta(R"("content":"a")"), wrapped, "[DONE]"}), wrapped + "\n\n",
        ": ping\n\n" + wrapped + "\n\n", events({in_choice})}) {
    const Reply reply = read(stream);
    EXPECT_EQ(reply.fault, Fault::Overflow) << stream << reply.fault_text;
    EXPECT_TRUE(reply.error_in_200);
    EXPECT_EQ(reply.limit_tokens, 4096);
    EXPECT_EQ(reply.asked_tokens, 5000);
  }
  EXPECT_EQ(read(events({R"({"error":"boom"})"})).fault, Fault::Server);
}

TEST(Stream, BadEventsAreFormatFaults) {
  const std::string good = delta(R"("content":"a")"), end = delta("", "\"stop\"");
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  for (const std::string& bad :
       {events({good, good.substr(0, 20), end}), events({good, deep, end}), events({"7", end}),
        events({good, "{\"index\":NaN}", end}), events({good, "{\"x\":\"\xff\"}", end}),
        events({good, R"({"x":"\ud83d"})", end}),
        events({good}) + "<html>502</html>\n\n" + events({end})}) {
    EXPECT_EQ(read(bad).fault, Fault::Format) << bad.substr(0, 300);
  }
}

TEST(Stream, AnErrorStatusIsReadAsOneThoughItStreams) {
  const Reply reply = read("data: {\"error\":{\"message\":\"bad key\"}}\n\n", ask_of(), 401);
  EXPECT_EQ(reply.fault, Fault::Auth);
  EXPECT_FALSE(reply.error_in_200);
}

TEST(Logprobs, OfChatsAndClassicCompletionsAreTheSame) {
  const std::string content =
      R"("logprobs":{"content":[{"token":"7","logprob":-0.1,"top_logprobs":[)"
      R"({"token":"8","logprob":-2.5},{"token":"7","logprob":-0.1}]}]})";
  const std::string classic =
      R"("logprobs":{"tokens":["7"],"token_logprobs":[-0.1],"top_logprobs":[{"8":-2.5,"7":-0.1}]})";
  for (const std::string& shape : {content, classic}) {
    Ask ask = ask_of();
    ask.candidates = {" 7", "8", "9"};
    const Reply reply = read(
        R"({"choices":[{"message":{"content":"7"},"finish_reason":"length",)" + shape + "}]}", ask);
    ASSERT_EQ(reply.top.size(), 1U);
    EXPECT_EQ(reply.top[0][0].text, "7");
    EXPECT_EQ(reply.top[0][1].logprob, -2.5);
    EXPECT_EQ(reply.candidates, (std::vector<std::optional<double>>{-0.1, -2.5, std::nullopt}));
    EXPECT_EQ(reply.candidate_bound, -2.5);
  }
}

TEST(Logprobs, ABlankTokenBeforeTheCandidatesIsSteppedOver) {
  const std::string content =
      R"("logprobs":{"content":[{"token":" ","logprob":-0.01,"top_logprobs":[)"
      R"({"token":" ","logprob":-0.01},{"token":"\n","logprob":-5.0}]},)"
      R"({"token":"7","logprob":-0.2,"top_logprobs":[)"
      R"({"token":"7","logprob":-0.2},{"token":"8","logprob":-1.8}]}]})";
  Ask ask = ask_of(Api::Completions);
  ask.candidates = {" 7", " 8", " 9"};
  const Reply reply =
      read(R"({"choices":[{"text":" 7","finish_reason":"length",)" + content + "}]}", ask);
  EXPECT_EQ(reply.candidates, (std::vector<std::optional<double>>{-0.2, -1.8, std::nullopt}));
  EXPECT_EQ(reply.candidate_bound, -1.8);
}

TEST(Logprobs, AnEchoGivesThoseOfThePrompt) {
  Ask ask = ask_of(Api::Completions);
  ask.echo = true;
  const Reply reply =
      read(R"({"choices":[{"text":"one two 3","finish_reason":"length","logprobs":{"tokens":)"
           R"(["one"," two"," 3"],"token_logprobs":[null,-1.5,-0.2],"top_logprobs":null}}],)"
           R"("usage":{"prompt_tokens":2,"completion_tokens":1}})",
           ask);
  EXPECT_EQ(reply.text, " 3");
  EXPECT_EQ(reply.prompt_logprobs, (std::vector<std::optional<double>>{std::nullopt, -1.5}));
  ASSERT_EQ(reply.top.size(), 1U);
  EXPECT_EQ(reply.top[0][0].logprob, -0.2);

  const Reply ignored =
      read(R"({"choices":[{"text":" 3","finish_reason":"length","logprobs":{"tokens":[" 3"],)"
           R"("token_logprobs":[-0.2],"top_logprobs":null}}],"usage":{"completion_tokens":1}})",
           ask);
  EXPECT_TRUE(ignored.prompt_logprobs.empty());
  EXPECT_EQ(ignored.text, " 3");
}

TEST(Transfers, FaultsOfTheWireAreTheReplys) {
  ReplyReader reader(ask_of(), 1 << 20);
  reader.feed("data: {\"choices\":[{\"del", 200, 1);
  Transfer transfer;
  transfer.status = 200;
  transfer.fault = Fault::Cut;
  transfer.why = "the connection ended";
  const Reply reply = reader.finish(transfer);
  EXPECT_EQ(reply.fault, Fault::Cut);
  EXPECT_EQ(reply.fault_text, "the connection ended");
}

}  // namespace
}  // namespace gyre::accept
