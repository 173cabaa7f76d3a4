// Nats per token of plain texts: what is asked, and the difference between two runs by hand.
#include "gyre/accept/text_nll.h"

#include <gtest/gtest.h>

#include <set>

#include "gyre/accept/record.h"

namespace gyre::accept {
namespace {

/// Answers each echo with as many log-probabilities as the text has words, all equal.
class Echoing : public Subject {
 public:
  explicit Echoing(double nats) : nats_(nats) {}
  std::string name() const override { return "echoing"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api) const override { return true; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }
  Reply ask(const Ask& ask) override {
    texts.insert(ask.messages[0].content);
    Reply reply;
    reply.prompt_tokens = 3;
    reply.prompt_logprobs = {std::nullopt, -nats_, -nats_ - 0.2};
    return reply;
  }
  std::set<std::string> texts;

 private:
  double nats_;
};

struct Asked {
  std::vector<Sample> samples;
  std::vector<Measure> measures;
  std::set<std::string> texts;
};

Asked run(double nats, bool echoes = true) {
  Echoing subject(nats);
  Record record;
  Session session(subject, record, {});
  const AcceptOptions options;
  Acceptance result;
  result.facts.echoes = echoes;
  Bench bench{session, options, result};
  run_text_nll(bench);
  return {record.samples(), result.measures, subject.texts};
}

TEST(TextNll, AsksAsManyDifferentTextsAndTellsTheirMean) {
  const Asked out = run(2.0);
  EXPECT_EQ(out.texts.size(), static_cast<size_t>(kTexts));
  ASSERT_EQ(out.measures.size(), 1U);
  EXPECT_EQ(out.measures[0].n, kTexts);
  EXPECT_NEAR(out.measures[0].value, 2.1, 1e-12);
}

TEST(TextNll, IsNotAskedOfAServer) {
  EXPECT_TRUE(run(2.0, false).texts.empty());
}

TEST(TextNll, TheDifferenceIsPairedByText) {
  const Asked before = run(2.0), after = run(2.25);
  const auto delta = text_nll_delta(before.samples, after.samples);
  ASSERT_TRUE(delta);
  EXPECT_EQ(delta->n, kTexts);
  EXPECT_NEAR(delta->value, 0.25, 1e-12);
  EXPECT_EQ(delta->says,
            "+0.2500 nats (+0.2500 to +0.2500): the change made the model worse at this length");
}

TEST(TextNll, TextsThatAreReadAsOtherTokensDoNotPair) {
  const Asked before = run(2.0);
  Asked after = run(2.0);
  for (Sample& sample : after.samples) {
    sample.reply.prompt_logprobs.emplace_back(-1.0);
  }
  EXPECT_FALSE(text_nll_delta(before.samples, after.samples));
}

TEST(TextNll, AServersRunHasNoDifference) {
  EXPECT_FALSE(text_nll_delta({}, run(2.0).samples));
}

}  // namespace
}  // namespace gyre::accept
