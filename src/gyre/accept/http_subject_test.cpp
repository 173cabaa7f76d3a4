// The client against the mock server: plain answers in every dialect, adaptation to refusals.
#include "gyre/accept/http_subject.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

#include "gyre/accept/mock_testing.h"
#include "gyre/base/error.h"
#include "gyre/base/progress.h"

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

void expect_answers(const char* dialect) {
  SCOPED_TRACE(dialect);
  const MockServer server({"--dialect", dialect});
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

TEST(Endpoint, AnswersChatsAndCompletionsStreamedOrNotInEveryDialect) {
  for (const char* dialect : {"llamacpp", "vllm", "vllm_old", "ollama", "sglang", "tgi", "openai",
                              "groq", "lmstudio", "llamacpp_python", "transformers"}) {
    expect_answers(dialect);
  }
}

TEST(Endpoint, AStreamThatOpensBeforeThePromptIsReadMayBeSilentAsLongAsAFirstByte) {
  const MockServer server({"--dialect", "transformers", "--fault", "latency:a=700"});
  EndpointOptions options = at(server);
  options.idle_s = 0.2;
  options.first_byte_s = 20;
  const Reply patient = open_endpoint(options)->ask(chat());
  EXPECT_EQ(patient.fault, Fault::None) << patient.fault_text;
  EXPECT_LT(patient.first_byte_ms, 600);
  EXPECT_GE(patient.first_token_ms, 700);
  options.first_byte_s = 0.3;
  const Reply hasty = open_endpoint(options)->ask(chat());
  EXPECT_EQ(hasty.fault, Fault::FirstByte);
  EXPECT_EQ(hasty.fault_text.substr(0, 30), "no word of an answer after 0.3") << hasty.fault_text;
}

TEST(Endpoint, WhoWaitsBehindOthersHasTimeForTheirAnswers) {
  const MockServer server({"--dialect", "openai", "--fault", "token_delay:ms=100:first=1",
                           "--fault", "latency:a=800:on=completions"});
  EndpointOptions options = at(server);
  options.first_byte_s = 0.3;
  const auto subject = open_endpoint(options);
  EXPECT_EQ(subject->ask(chat()).fault, Fault::None);  // its words take half a second
  std::vector<Fault> faults(2);
  std::thread other([&] { faults[0] = subject->ask(completion()).fault; });
  faults[1] = subject->ask(completion()).fault;
  other.join();
  std::sort(faults.begin(), faults.end());
  EXPECT_EQ(faults, (std::vector<Fault>{Fault::None, Fault::FirstByte}));
}

TEST(Endpoint, GivesWayToWhatAServerDoesNotTake) {
  const MockServer server({"--dialect", "openai", "--fault", "logprobs:mode=refuse:top=5"});
  const auto subject = open_endpoint(at(server));
  Ask ask = chat();
  ask.top_logprobs = 20;
  const Reply reply = subject->ask(ask);
  EXPECT_EQ(reply.fault, Fault::None) << reply.fault_text;
  ASSERT_FALSE(reply.top.empty());
  EXPECT_EQ(reply.top[0].size(), 5U);
  EXPECT_EQ(server.log()["requests"], 2);
  subject->ask(ask);  // remembered
  EXPECT_EQ(server.log()["requests"], 3);
}

TEST(Endpoint, ReadsLogprobsEchoAndCandidates) {
  for (const char* dialect : {"llamacpp", "openai"}) {
    const MockServer server({"--dialect", dialect});
    const auto subject = open_endpoint(at(server));
    Ask ask = completion("The code for Oslo is 7. The code for Oslo is", 1);
    ask.echo = true;
    ask.candidates = {" 7", " 8"};
    const Reply reply = subject->ask(ask);
    EXPECT_EQ(reply.fault, Fault::None) << reply.fault_text;
    EXPECT_EQ(static_cast<int64_t>(reply.prompt_logprobs.size()), reply.prompt_tokens) << dialect;
    ASSERT_EQ(reply.candidates.size(), 2U);
    ASSERT_TRUE(reply.candidates[0]);
    EXPECT_GT(*reply.candidates[0], reply.candidates[1].value_or(reply.candidate_bound));
  }
}

TEST(Endpoint, SendsAllItWasAskedToSend) {
  const MockServer server({"--dialect", "openai"});
  EndpointOptions options = at(server, "off");
  options.send = R"({"max_tokens": 2, "temperature": null})";
  EXPECT_EQ(open_endpoint(options)->ask(chat()).finish, "length");
}

TEST(Endpoint, FindsOutWhoAnswers) {
  const std::vector<std::pair<const char*, const char*>> kinds{
      {"llamacpp", "llama.cpp"}, {"vllm", "vLLM"}, {"ollama", "Ollama"}, {"sglang", "SGLang"},
      {"openai", "OpenAI"},      {"tgi", "TGI"},   {"groq", "Groq"}};
  for (const auto& [dialect, name] : kinds) {
    const MockServer server({"--dialect", dialect, "--window", "8192"});
    const auto subject = open_endpoint(at(server));
    const Facts facts = subject->discover();
    EXPECT_EQ(facts.server, name);
    EXPECT_EQ(facts.model, "mock");
    EXPECT_EQ(subject->name(), server.url() + " mock");
    const bool counts = facts.server == "llama.cpp" || facts.server == "vLLM";
    EXPECT_EQ(facts.counts_tokens, counts) << dialect;
    EXPECT_EQ(subject->count_tokens("one two three four").has_value(), counts);
    if (facts.server != "OpenAI") {
      ASSERT_FALSE(facts.claims.empty()) << dialect;
      EXPECT_NEAR(static_cast<double>(facts.claims[0].tokens), 8192, 1) << facts.claims[0].source;
    }
  }
}

TEST(Endpoint, TellsTheMemoryOfTheServer) {
  const MockServer server({"--dialect", "llamacpp"});
  const auto subject = open_endpoint(at(server));
  subject->discover();
  EXPECT_NEAR(subject->ask(chat()).memory_mib.value_or(0), 300e6 / 1048576, 1);
}

TEST(Endpoint, TheKeyGoesToItsServerAndIsNeverRepeated) {
  const std::string key = "sk-Secret-1234567";
  const MockServer server({"--dialect", "openai", "--key", key});
  EndpointOptions options = at(server);
  EXPECT_EQ(open_endpoint(options)->ask(chat()).fault, Fault::Auth);
  options.key = key;
  const auto subject = open_endpoint(options);
  EXPECT_EQ(subject->name().find(key), std::string::npos);
  const Reply reply = subject->ask(chat("Checkpoint 1: " + key + ". Say it. " + kText));
  EXPECT_EQ(reply.fault, Fault::None) << reply.fault_text;
  const MockServer echoing({"--dialect", "openai"});
  options.url = echoing.url();
  options.send = R"({"model": ")" + key + R"("})";
  const Reply refused = open_endpoint(options)->ask(chat());
  EXPECT_EQ(refused.fault, Fault::Client);
  EXPECT_EQ(refused.fault_text, "The model `[key]` does not exist.");
  options.send = R"({"model": "SK-SECRET-1234567 sk-secret-1234567"})";  // in another case
  EXPECT_EQ(open_endpoint(options)->ask(chat()).fault_text,
            "The model `[key] [key]` does not exist.");
}

TEST(Endpoint, TheKeyIsInNothingThatTheServerTellsOfItself) {
  const std::string key = "sk-Secret-1234567";
  const MockServer server({"--dialect", "llamacpp", "--key", key, "--model", "m-Bearer-" + key});
  EndpointOptions options = at(server);
  options.key = key;
  const auto subject = open_endpoint(options);
  const Facts facts = subject->discover();
  EXPECT_EQ(facts.model, "m-Bearer-[key]");
  EXPECT_EQ(subject->name(), server.url() + " m-Bearer-[key]");
  for (const auto& [name, value] : facts.other) {
    EXPECT_EQ((name + value).find(key), std::string::npos) << name;
  }
  EXPECT_EQ(subject->ask(chat()).fault, Fault::None);  // asked by its real name
}

TEST(Endpoint, AWordThatStandsForAKeyIsLeftInAnswers) {
  const MockServer server({"--dialect", "openai", "--key", "KX7"});
  EndpointOptions options = at(server);
  options.key = "KX7";
  EXPECT_EQ(open_endpoint(options)->ask(chat()).text, "KX7-3QD");
}

TEST(Endpoint, TheKeyDoesNotFollowARedirect) {
  const MockServer server({"--dialect", "openai", "--fault", "redirect:away=1"});
  EndpointOptions options = at(server);
  options.key = "sk-Secret-1234567";
  EXPECT_EQ(open_endpoint(options)->ask(chat()).text, "KX7-3QD");
  int64_t away = 0;
  const nlohmann::json log = server.log();
  for (const auto& entry : log["log"]) {
    EXPECT_EQ(entry["authorization"], !entry["away"].get<bool>()) << entry.dump();
    away += entry["away"].get<bool>() ? 1 : 0;
  }
  EXPECT_EQ(away, 1) << log.dump();
}

TEST(Endpoint, CtrlCEndsATransferAtOnce) {
  const MockServer server({"--dialect", "openai", "--fault", "latency:a=30000"});
  const auto subject = open_endpoint(at(server));
  std::thread user([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    set_interrupted(true);
  });
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THROW(subject->ask(chat()), Interrupted);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
  user.join();
  set_interrupted(false);
}

using Change = std::function<void(EndpointOptions&)>;

TEST(Endpoint, BadOptionsAreNamed) {
  const auto message = [](const std::string& url, const Change& change = {}) {
    EndpointOptions options;
    options.url = url;
    if (change) {
      change(options);
    }
    try {
      open_endpoint(options);
      return std::string("taken");
    } catch (const Error& error) {
      EXPECT_EQ(exit_code(error.code()), 2);
      return std::string(error.what());
    }
  };
  EXPECT_EQ(message("127.0.0.1:8080"),
            "endpoint '127.0.0.1:8080' has no http:// or https://; write it like "
            "http://127.0.0.1:8080/v1");
  EXPECT_EQ(
      message("http://a:/v1"),
      "endpoint 'http://a:/v1' has no port after ':'; write it like http://127.0.0.1:8080/v1");
  EXPECT_EQ(message("ftp://a/v1"),
            "endpoint 'ftp://a/v1' must begin with http:// or https://, found ftp");
  EXPECT_EQ(message("http://me:word@a/v1"),
            "the endpoint holds a name or a password, which would be recorded; give a key through "
            "the environment");
  EXPECT_EQ(message("http://a/v1/chat/completions"),
            "endpoint 'http://a/v1/chat/completions' must be the part before /chat/completions; "
            "write it like http://127.0.0.1:8080/v1");
  EXPECT_EQ(message("http://a/v1?key=1"),
            "the endpoint must end before '?' and '#'; write it like http://127.0.0.1:8080/v1");
  EXPECT_EQ(message("http://a/v1", [](auto& o) { o.key = "two words"; }),
            "the key holds a space, a line end or another character that no header may have");
  EXPECT_EQ(message("http://a/v1", [](auto& o) { o.stream = "yes"; }),
            "--stream must be auto, on or off, got 'yes'");
  EXPECT_EQ(message("http://a/v1", [](auto& o) { o.send = "[1]"; }),
            "--send must be a JSON object like {\"top_k\": 1}, got '[1]'");
  EXPECT_EQ(message("http://a/v1", [](auto& o) { o.idle_s = 0; }),
            "a time-out must be above 0 and at most 1000000 s, got 0");
  EXPECT_EQ(message("http://a/v1", [](auto& o) { o.most_bytes = 1; }),
            "an answer must be allowed 1024 bytes at least, got 1");
}

}  // namespace
}  // namespace gyre::accept
