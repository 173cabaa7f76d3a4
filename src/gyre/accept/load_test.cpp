// 2,000 requests, 32 at a time (case L01 of testing/mock_server/cases.json): none is lost, each is
// answered once, whatever the server does to the attempts.
#include <gtest/gtest.h>

#include <map>

#include "gyre/accept/http_subject.h"
#include "gyre/accept/mock_testing.h"
#include "gyre/accept/session.h"

namespace gyre::accept {
namespace {

std::vector<Item> items(int64_t n) {
  std::vector<Item> all;
  for (int64_t i = 0; i < n; ++i) {
    std::string code = std::to_string(222'222 + i);  // made of symbols that codes may have
    for (char& c : code) {
      c = "ABCDEFGHJK"[c - '0'];
    }
    code.insert(3, "-");
    Item item;
    item.index = i;
    item.gold = {code};
    item.ask.messages = {{"user", "Checkpoint 1: " + code + ". What is the code of checkpoint 1?"}};
    all.push_back(item);
  }
  return all;
}

struct Load {
  const char* name;
  int64_t n;
  std::vector<std::string> faults;
};

class Loads : public testing::TestWithParam<Load> {};

TEST_P(Loads, LoseNothing) {
  const Load& load = GetParam();
  std::vector<std::string> flags{"--dialect", "openai"};
  for (const std::string& fault : load.faults) {
    flags.insert(flags.end(), {"--fault", fault});
  }
  const MockServer server(flags);
  EndpointOptions endpoint;
  endpoint.url = server.url();
  const auto subject = open_endpoint(endpoint);
  Record record;
  SessionOptions options;
  options.concurrency = 32;
  options.attempts = 12;  // a fault of 5 % may meet a prompt several times
  options.first_wait_s = 0.005;
  Session session(*subject, record, options);
  const std::vector<Sample> samples = session.ask_all(items(load.n));
  ASSERT_EQ(static_cast<int64_t>(samples.size()), load.n);
  for (const Sample& sample : samples) {
    EXPECT_EQ(sample.reply.fault, Fault::None) << sample.reply.fault_text;
    EXPECT_EQ(sample.reply.text, sample.item.gold[0]);
    EXPECT_LE(sample.in_flight, 32);
  }
  const nlohmann::json log = server.log();
  std::map<std::string, int> answered;  // by prompt: answers that no fault touched
  std::map<std::string, std::string> entries;
  for (const auto& entry : log["log"]) {
    const auto& notes = entry["notes"];
    const bool closed = notes.size() == 1 && notes[0] == "gone: close";  // after a whole answer
    const bool good = closed || (entry["status"] == 200 && notes.empty());
    answered[entry["prompt"]] += good ? 1 : 0;
    entries[entry["prompt"]] += entry.dump() + "\n";
  }
  EXPECT_EQ(static_cast<int64_t>(answered.size()), load.n);
  for (const auto& [prompt, times] : answered) {
    EXPECT_EQ(times, 1) << entries[prompt];
  }
  EXPECT_LE(log["most_in_flight"], 32);
  EXPECT_EQ(log["in_flight"], 0);
  EXPECT_GE(log["requests"], session.requests());
}

INSTANTIATE_TEST_SUITE_P(
    L01, Loads,
    testing::Values(
        Load{"clean", 2000, {}},
        Load{"transient refusals",
             400,
             {"busy:code=503:wait_s=0.01", "status:code=502:chance=0.05"}},
        Load{"dropped connections", 400, {"drop:after=100:chance=0.05", "refuse:chance=0.05"}},
        Load{"split and closed", 400, {"split:bytes=3", "silent_close:chance=0.3"}}));

}  // namespace
}  // namespace gyre::accept
