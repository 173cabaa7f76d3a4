// The order of a whole run: what is left out when nothing answers.
#include "gyre/accept/acceptance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "gyre/accept/record.h"

namespace gyre::accept {
namespace {

/// A server that takes every request and never says anything.
class Mute : public Subject {
 public:
  std::string name() const override { return asked == 0 ? "mute" : "mute model"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api) const override { return true; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }
  Reply ask(const Ask&) override {
    ++asked;
    Reply reply;
    reply.fault = Fault::FirstByte;
    reply.fault_text = "no byte for 120 s";
    return reply;
  }
  int64_t asked = 0;
};

TEST(Acceptance, AMuteServerIsAskedAFewTimesNotThousands) {
  Mute subject;
  Record record;
  Session session(subject, record, {});
  const Acceptance out = accept(session, record, {});
  EXPECT_LE(subject.asked, 4);           // each costs a time-out
  EXPECT_EQ(out.subject, "mute model");  // as it is known after the first answers about itself
  EXPECT_EQ(exit_status(out), 1);
  EXPECT_NE(out.says[2].find("not one request was answered"), std::string::npos) << out.says[2];
  EXPECT_EQ(out.levels[1].status, Status::NotRun);
  EXPECT_EQ(out.levels[2].status, Status::NotRun);
  EXPECT_FALSE(out.cells.empty());
  for (const Cell& cell : out.cells) {
    EXPECT_EQ(cell.why_not_run, "no request of level 1 was answered");
  }
  EXPECT_TRUE(out.curves.empty());
}

/// A model without a word: a token is a byte, answers are line breaks.
class Blank : public Subject {
 public:
  std::string name() const override { return "blank"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api api) const override { return api == Api::Completions; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }
  Reply ask(const Ask& ask) override {
    Reply reply;
    reply.prompt_tokens = prompt_bytes(ask);
    reply.completion_tokens = ask.max_tokens;
    reply.text = "\n\n";
    reply.finish = "length";
    return reply;
  }
};

TEST(Acceptance, AModelWithoutAWordAtLengthsWithoutRoomIsNoFault) {
  for (const char* ranking : {"auto", "off"}) {
    Blank subject;
    Record record;
    Session session(subject, record, {});
    AcceptOptions options;
    options.original_length = 64;
    options.lengths = {64, 512, 1000};
    options.looks = {1};
    options.ranking = ranking;
    const Acceptance out = accept(session, record, options);
    EXPECT_EQ(out.verdict, Status::Undecided);
    for (const Finding& finding : out.findings) {
      EXPECT_NE(finding_kind(finding.id).severity, Severity::Fault) << finding.id;
    }
    ASSERT_EQ(out.one.rungs.size(), 3U);
    EXPECT_TRUE(out.one.rungs[0].says.starts_with("no room: haystack: ")) << out.one.rungs[0].says;
    EXPECT_EQ(out.one.rungs[2].says,
              "0 of 8 codes came back; nothing tells whether the rest was read");
  }
}

/// Reads everything, tells it honestly, and never writes more than eight lines.
class Lazy : public Subject {
 public:
  std::string name() const override { return "lazy"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api api) const override { return api == Api::Chat; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }
  Reply ask(const Ask& ask) override {
    const std::string& text = ask.messages.back().content;
    Reply reply;
    reply.http = 200;
    reply.finish = "stop";
    reply.prompt_tokens = 10 + prompt_bytes(ask) / 4;
    const std::string alone = "What is the code of checkpoint ";
    const size_t asked = text.find(alone);
    const bool list = asked == std::string::npos;
    const int first = list ? 1 : std::atoi(text.c_str() + asked + alone.size());
    for (int i = first; i <= (list ? 8 : first); ++i) {
      const std::string mark = str("Checkpoint ", i, ": ");
      for (const Message& message : ask.messages) {
        if (const size_t at = message.content.find(mark); at != std::string::npos) {
          reply.text += str(i, ": ", message.content.substr(at + mark.size(), 7), "\n");
        }
      }
    }
    reply.completion_tokens = static_cast<int64_t>(reply.text.size()) / 4;
    return reply;
  }
};

TEST(Acceptance, AnAnswerThatBreaksOffIsNoLossOfText) {
  Lazy subject;
  Record record;
  Session session(subject, record, {});
  AcceptOptions options;
  options.lengths = {512, 4096};
  options.levels = {1};
  const Acceptance out = accept(session, record, options);
  EXPECT_EQ(out.verdict, Status::Pass);
  EXPECT_TRUE(out.findings.empty()) << out.findings[0].id << ": " << out.findings[0].says;
  EXPECT_EQ(out.effective_length, 4096);
  EXPECT_EQ(out.one.rungs[1].says,
            "kept whole: codes that the list left out come back when asked for alone");
}

}  // namespace
}  // namespace gyre::accept
