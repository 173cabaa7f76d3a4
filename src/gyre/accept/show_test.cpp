// One item of a run against the mock server: kept, found, rebuilt byte for byte. Whole runs resumed
// after they were cut short give the same result and ask nothing twice.
#include "gyre/accept/show.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/facts_file.h"
#include "gyre/accept/http_subject.h"
#include "gyre/accept/mock_testing.h"
#include "gyre/accept/record_testing.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/options.h"

namespace gyre::accept {
namespace {

namespace fs = std::filesystem;
using testing::TempFolder;

AcceptOptions small_options() {
  AcceptOptions options;
  options.lengths = {1024};
  options.levels = {1, 2};
  options.looks = {2};
  options.curves = false;
  return options;
}

std::map<std::string, std::string> settings_of(AcceptOptions options) {
  std::map<std::string, std::string> out;
  for (const Field& field : fields_of(options)) {
    out[field.name] = field.get();
  }
  return out;
}

/// A run in a folder; `most`: requests after which the process is killed, as far as the record can
/// tell: an exception ends it.
struct Killed {};
Acceptance run(const MockServer& server, const fs::path& dir, int64_t most = 1 << 30,
               int64_t* sent = nullptr) {
  EndpointOptions endpoint;
  endpoint.url = server.url();
  const AcceptOptions options = small_options();
  Record record(dir, settings_of(options), false);
  FactsKeeper subject(open_endpoint(endpoint), dir / "facts.json");
  int64_t n = 0;
  Session session(subject, record, {}, [&](const Sample&) {
    if (++n >= most) {
      throw Killed{};
    }
  });
  try {
    Acceptance result = accept(session, record, options);
    if (sent != nullptr) {
      *sent = session.requests();
    }
    return result;
  } catch (const Killed&) {
    return {};
  }
}

TEST(Show, RebuildsAPromptByteForByte) {
  const MockServer server({"--window", "16384", "--fault", "oracle:skill=0.7"});
  const TempFolder temp;
  const Acceptance result = run(server, temp / "run");
  ASSERT_FALSE(result.failures.empty());
  const std::string sid = result.failures.front().item.sid;
  const Shown shown = show(temp / "run", sid.substr(0, 12));
  EXPECT_TRUE(shown.rebuilt) << shown.origin;
  EXPECT_TRUE(shown.same) << shown.origin;
  EXPECT_EQ(shown.prompt, read_prompt(temp / "run", sid));
  const std::string text = to_text(shown);
  EXPECT_NE(text.find("item " + sid), std::string::npos);
  EXPECT_NE(text.find("equal byte for byte to the one that was kept"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(to_json(shown)).at("same"), true);
}

TEST(Show, RebuildsWhatEndedOkAndNoticesADamagedPrompt) {
  const MockServer server({"--window", "16384", "--fault", "oracle:skill=0.7"});
  const TempFolder temp;
  const Acceptance result = run(server, temp / "run");
  std::string ok;
  for (const Sample& sample : Record::read_only(temp / "run")->samples()) {
    ok = sample.ok() ? sample.item.sid : ok;
  }
  EXPECT_TRUE(show(temp / "run", ok).same);
  const std::string failed = result.failures.back().item.sid;
  write_prompt(temp / "run", failed, "something else");
  EXPECT_FALSE(show(temp / "run", failed).same);
  fs::remove(temp / "run" / "facts.json");
  const Shown kept = show(temp / "run", failed);
  EXPECT_FALSE(kept.rebuilt);
  EXPECT_NE(kept.origin.find("damaged since; it was not rebuilt"), std::string::npos);
}

TEST(Show, SaysWhichItemsThereAre) {
  const TempFolder temp;
  {
    Record record(temp / "run", settings_of(small_options()), false);
    record.add(testing::a_sample(1), true);
    record.add(testing::a_sample(2), true);
  }
  const auto message_of = [&](const std::string& sid) {
    try {
      show(temp / "run", sid);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(message_of("").find("several items begin with ''"), std::string::npos);
  EXPECT_EQ(message_of("zzzz"),
            "accept show: no item 'zzzz' in this run; accept.json lists them under failures[] and "
            "evidence[]");
}

TEST(Resume, AStoppedRunGoesOnWithoutAskingTwice) {
  const MockServer server({"--window", "16384"});
  const TempFolder temp;
  int64_t whole = 0, rest = 0, none = 0;
  const Acceptance once = run(server, temp / "whole", 1 << 30, &whole);
  run(server, temp / "cut", whole / 2);
  {
    std::ofstream torn(temp / "cut" / "samples.jsonl", std::ios::app);
    torn << R"({"schema":"gyre.accept_sample/1","sid":"01)";
  }
  const Acceptance resumed = run(server, temp / "cut", 1 << 30, &rest);
  EXPECT_EQ(whole / 2 + rest, whole);
  EXPECT_EQ(resumed.verdict, once.verdict);
  EXPECT_EQ(resumed.cells.size(), once.cells.size());
  EXPECT_EQ(resumed.cost.requests, once.cost.requests);
  run(server, temp / "cut", 1 << 30, &none);
  EXPECT_EQ(none, 0);
}

TEST(OptionsOf, ReadsBackTheSettingsOfAFolder) {
  AcceptOptions before = small_options();
  before.threshold = 0.85;
  before.send = R"({"options":{"num_ctx":16384}})";
  const AcceptOptions after = options_of(settings_of(before));
  EXPECT_EQ(after.lengths, before.lengths);
  EXPECT_EQ(after.looks, before.looks);
  EXPECT_EQ(after.threshold, before.threshold);
  EXPECT_EQ(after.send, before.send);
  EXPECT_FALSE(after.curves);
}

}  // namespace
}  // namespace gyre::accept
