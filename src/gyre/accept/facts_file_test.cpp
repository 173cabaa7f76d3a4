// Facts are kept and read back.
#include "gyre/accept/facts_file.h"

#include <gtest/gtest.h>

#include "gyre/accept/record_testing.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

class Told final : public Subject {
 public:
  std::string name() const override { return "told"; }
  Facts discover() override {
    Facts facts;
    facts.server = "X";
    facts.model = "small";
    facts.claims = {{"/props n_ctx", 4096}};
    facts.other = {{"build", "b1"}};
    facts.slots = 4;
    facts.counts_tokens = true;
    return facts;
  }
  Reply ask(const Ask& ask) override {
    Reply r;
    r.text = ask.messages.front().content;
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

TEST(FactsKeeper, WritesWhatWasToldAndChangesNothing) {
  const testing::TempFolder temp;
  FactsKeeper keeper(std::make_unique<Told>(), temp / "facts.json");
  EXPECT_EQ(keeper.discover().model, "small");
  const KnownFacts known = read_facts(temp / "facts.json");
  EXPECT_EQ(known.subject, "told");
  EXPECT_EQ(known.facts.server, "X");
  EXPECT_EQ(known.facts.claims[0].tokens, 4096);
  EXPECT_EQ(known.facts.slots, 4);
  EXPECT_TRUE(known.facts.counts_tokens);
  EXPECT_EQ(known.facts.other.at("build"), "b1");
  Ask ask;
  ask.messages = {{"user", "abc"}};
  EXPECT_EQ(keeper.ask(ask).text, "abc");
  EXPECT_TRUE(keeper.can(Api::Chat));
  EXPECT_FALSE(keeper.can(Api::Completions));
  EXPECT_EQ(keeper.count_tokens("abc"), 3);
  EXPECT_EQ(keeper.render({{"user", "abc"}}), "abc");
}

TEST(FactsFile, SaysWhichFileHoldsNoFacts) {
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
