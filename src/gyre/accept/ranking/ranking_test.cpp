// Scores of candidates by hand; the copy probe on a subject whose tokens are single bytes.
#include <gtest/gtest.h>

#include <cmath>

#include "gyre/accept/ranking/copy.h"
#include "gyre/accept/ranking/scores.h"

namespace gyre::accept {
namespace {

Item three_candidates() {
  Item item;
  item.gold = {"7"};
  item.ask.candidates = {" 3", " 7", " 9"};
  return item;
}

TEST(RankedScore, PlacesTheRightValueAmongTheOthers) {
  const Item item = three_candidates();
  Reply reply;
  reply.candidates = {std::log(0.2), std::log(0.5), std::log(0.1)};
  const auto score = ranked_score(item, reply);
  ASSERT_TRUE(score.has_value());
  EXPECT_EQ(score->place, 1);
  EXPECT_NEAR(score->logprob, std::log(0.5), 1e-12);
  EXPECT_NEAR(score->margin, std::log(0.5 / 0.3), 1e-12);
}

TEST(RankedScore, ATieIsNoSuccess) {
  Reply reply;
  reply.candidates = {-1.0, -1.0, -2.0};
  EXPECT_EQ(ranked_score(three_candidates(), reply)->place, 2);
}

TEST(RankedScore, WhatIsNotToldIsAtMostTheBound) {
  Reply reply;
  reply.candidates = {std::nullopt, -1.0, std::nullopt};
  reply.candidate_bound = -5.0;
  EXPECT_EQ(ranked_score(three_candidates(), reply)->place, 1);
  EXPECT_EQ(*candidate_logprob(three_candidates(), reply, "3"), -5.0);
  reply.candidates = {-1.0, std::nullopt, -9.0};
  EXPECT_EQ(ranked_score(three_candidates(), reply)->place, 2);
  reply.candidates = {std::nullopt, std::nullopt, std::nullopt};
  EXPECT_FALSE(ranked_score(three_candidates(), reply).has_value());
}

TEST(RankedScore, NothingWithoutAnAnswer) {
  Reply reply;
  reply.fault = Fault::Idle;
  reply.candidates = {-1.0, -1.0, -1.0};
  EXPECT_FALSE(ranked_score(three_candidates(), reply).has_value());
}

/// Every byte is a token; the second copy of anything costs nothing, all else 2 nats.
class ByteSubject : public Subject {
 public:
  std::string name() const override { return "bytes"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api api) const override { return api == Api::Completions; }
  std::optional<int64_t> count_tokens(const std::string& text) override {
    return static_cast<int64_t>(text.size());
  }
  Reply ask(const Ask& ask) override {
    const std::string& text = ask.messages[0].content;
    Reply reply;
    reply.prompt_logprobs.emplace_back(std::nullopt);  // a first token of its own
    for (size_t i = 0; i < text.size(); ++i) {
      const bool again = i >= 7 && text.find(text.substr(i - 7, 8)) < i - 7;
      reply.prompt_logprobs.emplace_back(again ? 0.0 : -2.0);
    }
    return reply;
  }
};

TEST(CopyProbe, TellsWhatTheSecondCopySaves) {
  Frame frame;
  frame.api = Api::Completions;
  frame.length = 800;
  frame.calibration.tokens_per_byte = 1.0;
  const CopyItem copy = make_copy(0, 300, frame);
  const std::string& text = copy.item.ask.messages[0].content;
  const auto part = [&](int64_t begin, int64_t end) {
    return text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  EXPECT_EQ(part(copy.first_begin, copy.first_end), part(copy.second_begin, copy.second_end));
  EXPECT_EQ(copy.second_end, static_cast<int64_t>(text.size()));
  EXPECT_EQ(copy.second_begin - copy.first_end, 302);  // and two line ends
  EXPECT_LE(text.size(), 800U);
  ByteSubject subject;
  const auto gain = copy_gain(subject, copy, subject.ask(copy.item.ask));
  ASSERT_TRUE(gain.has_value());
  // 4 tokens are skipped; a full stop and a line end stand before both copies, so that 8 bytes
  // agree from the sixth byte on: all but one of the rest are free.
  const double n = static_cast<double>(copy.second_end - copy.second_begin) - 4;
  EXPECT_NEAR(*gain, 2.0 * (n - 1) / n, 1e-9);
}

TEST(CopyProbe, NeedsEcho) {
  Frame frame;
  frame.length = 800;
  frame.calibration.tokens_per_byte = 1.0;
  const CopyItem copy = make_copy(0, 300, frame);
  ByteSubject subject;
  EXPECT_FALSE(copy_gain(subject, copy, Reply{}).has_value());
}

}  // namespace
}  // namespace gyre::accept
