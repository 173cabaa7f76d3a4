// The key never gets into a reply, and so into no file; facts are kept and read back.
#include "gyre/accept/guard.h"

#include <gtest/gtest.h>

#include "gyre/accept/record_testing.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

constexpr const char* kKey = "sk-very-secret-1";

/// A server that echoes the key wherever it can.
class Echo final : public Subject {
 public:
  std::string name() const override { return "echo"; }
  Facts discover() override {
    Facts facts;
    facts.server = std::string("X ") + kKey;
    facts.model = kKey;
    facts.claims = {{std::string("header ") + kKey, 4096}};
    facts.other = {{kKey, kKey}};
    facts.slots = 4;
    facts.counts_tokens = true;
    return facts;
  }
  Reply ask(const Ask&) override {
    Reply r;
    r.fault = Fault::Auth;
    r.text = std::string(kKey) + kKey;
    r.reasoning = r.finish = r.fault_text = std::string("bad key ") + kKey + ".";
    r.top = {{{kKey, -1.0}}};
    return r;
  }
  bool concurrent() const override { return true; }
  bool can(Api api) const override { return api == Api::Chat; }
  std::optional<int64_t> count_tokens(const std::string& text) override {
    return static_cast<int64_t>(text.size());
  }
  std::optional<std::string> render(const std::vector<Message>& messages) override {
    return messages.front().content;
  }
};

TEST(Guard, HidesTheKeyInEveryText) {
  Guard guard(std::make_unique<Echo>(), kKey, "");
  const Reply r = guard.ask({});
  EXPECT_EQ(r.text, "******");
  EXPECT_EQ(r.reasoning, "bad key ***.");
  EXPECT_EQ(r.finish, "bad key ***.");
  EXPECT_EQ(r.fault_text, "bad key ***.");
  EXPECT_EQ(r.top[0][0].text, "***");
  EXPECT_EQ(guard.discover().other.at("***"), "***");
}

TEST(Guard, WithoutAKeyChangesNothing) {
  Guard guard(std::make_unique<Echo>(), "", "");
  EXPECT_EQ(guard.ask({}).text, std::string(kKey) + kKey);
  EXPECT_TRUE(guard.can(Api::Chat));
  EXPECT_FALSE(guard.can(Api::Completions));
  EXPECT_EQ(guard.count_tokens("abc"), 3);
  EXPECT_EQ(guard.render({{"user", "abc"}}), "abc");
  EXPECT_EQ(guard.name(), "echo");
}

TEST(Guard, KeepsFactsWithoutTheKey) {
  const testing::TempFolder temp;
  Guard(std::make_unique<Echo>(), kKey, temp / "facts.json").discover();
  EXPECT_EQ(read_file(temp / "facts.json").find(kKey), std::string::npos);
  const KnownFacts known = read_facts(temp / "facts.json");
  EXPECT_EQ(known.subject, "echo");
  EXPECT_EQ(known.facts.server, "X ***");
  EXPECT_EQ(known.facts.claims[0].tokens, 4096);
  EXPECT_EQ(known.facts.slots, 4);
  EXPECT_TRUE(known.facts.counts_tokens);
}

TEST(Guard, SaysWhichFileHoldsNoFacts) {
  const testing::TempFolder temp;
  write_file_atomic(temp / "facts.json", "{}");
  try {
    read_facts(temp / "facts.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("not the facts of an acceptance run"),
              std::string::npos);
  }
}

}  // namespace
}  // namespace gyre::accept
