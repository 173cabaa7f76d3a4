// Level 1 against models that cannot repeat codes and do not stop by themselves.
#include <gtest/gtest.h>

#include <algorithm>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/record.h"
#include "gyre/accept/session.h"

namespace gyre::accept {
namespace {

/// Says the same at every length until its budget ends; has a long template.
class Rambler : public Subject {
 public:
  explicit Rambler(std::string phrase) : phrase_(std::move(phrase)) {}
  std::string name() const override { return discovered_ ? "rambler" : ""; }
  Facts discover() override {
    discovered_ = true;
    return {};
  }
  bool concurrent() const override { return false; }
  bool can(Api api) const override { return api == Api::Chat; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }
  Reply ask(const Ask& ask) override {
    budgets.push_back(ask.max_tokens);
    Reply reply;
    reply.http = 200;
    for (int64_t i = 0; i < ask.max_tokens; i += 8) {
      std::string phrase = phrase_;
      if (const size_t at = phrase.find('#'); at != std::string::npos) {
        phrase.replace(at, 1, std::to_string(12 + i));
      }
      reply.text += phrase;
    }
    reply.finish = "length";
    // Stubs of sentences, as short prompts have them, take more tokens than whole ones.
    const int64_t bytes = prompt_bytes(ask);
    reply.prompt_tokens = 187 + 158 * std::min<int64_t>(bytes, 1900) / 1000 +
                          203 * std::max<int64_t>(0, bytes - 1900) / 1000;
    reply.completion_tokens = ask.max_tokens;
    return reply;
  }
  std::vector<int64_t> budgets;

 private:
  std::string phrase_;
  bool discovered_ = false;
};

Acceptance level_one(Rambler& subject, std::vector<int64_t> lengths) {
  AcceptOptions options;
  options.lengths = std::move(lengths);
  options.levels = {1};
  options.curves = false;
  Record record;
  Session session(subject, record, {});
  return accept(session, record, options);
}

TEST(Calibrate, WhatRepeatsItselfGetsNoMoreRoom) {
  for (const char* phrase : {"the code of ", "The code #: S9E. "}) {
    Rambler subject(phrase);
    const Acceptance result = level_one(subject, {1024, 2048});
    EXPECT_FALSE(result.one.able);
    EXPECT_EQ(*std::max_element(subject.budgets.begin(), subject.budgets.end()), 256) << phrase;
    EXPECT_TRUE(result.findings.empty()) << result.findings.front().id;
    EXPECT_EQ(result.subject, "rambler");
  }
}

TEST(Calibrate, ALongTemplateAndALongAnswerLeaveRoomForAShortPrompt) {
  Rambler subject("the code of ");
  const Acceptance result = level_one(subject, {512, 1024});
  EXPECT_FALSE(result.one.able);
  EXPECT_FALSE(result.one.rungs.empty());
}

TEST(Calibrate, APromptThatCountsMoreThanPredictedMendsTheLine) {
  Rambler subject("the code of ");
  const Acceptance result = level_one(subject, {512, 1000, 4000});
  const auto line = double(result.calibration.tokens_for(16000));
  EXPECT_NEAR(line, 187 + 0.158 * 1900 + 0.203 * 14100, 0.1 * line);
  EXPECT_TRUE(result.findings.empty());
}

}  // namespace
}  // namespace gyre::accept
