// Attempts, waits, replays and groups, against a subject that answers by a script.
#include "gyre/accept/session.h"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <filesystem>
#include <thread>

#include "gyre/base/progress.h"

namespace gyre::accept {
namespace {

/// Gives the faults of its script in order, then answers; repeats the prompt's last word.
class Scripted : public Subject {
 public:
  explicit Scripted(std::deque<Reply> script = {}) : script_(std::move(script)) {}
  std::string name() const override { return "scripted"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return true; }
  bool can(Api) const override { return true; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }
  Reply ask(const Ask& ask) override {
    const int64_t now = ++in_flight;
    most_in_flight = std::max<int64_t>(most_in_flight, now);
    ++asked;
    if (after_asks > 0 && asked >= after_asks) {
      set_interrupted(true);
    }
    if (hold_ms > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(hold_ms));
    }
    const std::lock_guard guard(lock_);
    Reply reply;
    if (!script_.empty()) {
      reply = script_.front();
      script_.pop_front();
    } else {
      const std::string& text = ask.messages.front().content;
      reply.text = text.substr(text.rfind(' ') + 1);
    }
    --in_flight;
    return reply;
  }
  std::atomic<int64_t> asked{0}, in_flight{0}, most_in_flight{0};
  int64_t after_asks = 0;  // Ctrl-C comes with that ask
  int64_t hold_ms = 0;

 private:
  std::mutex lock_;
  std::deque<Reply> script_;
};

Reply fault(Fault kind, double retry_after_s = -1) {
  Reply reply;
  reply.fault = kind;
  reply.retry_after_s = retry_after_s;
  return reply;
}

Item item(int64_t index = 0) {
  Item one;
  one.task = "test";
  one.index = index;
  one.gold = {"code" + std::to_string(index)};
  one.ask.messages = {{"user", "say code" + std::to_string(index)}};
  one.form = AnswerForm::Free;
  return one;
}

std::vector<Item> items(int64_t n) {
  std::vector<Item> all;
  for (int64_t i = 0; i < n; ++i) {
    all.push_back(item(i));
  }
  return all;
}

SessionOptions quick(int64_t concurrency = 1) {
  SessionOptions options;
  options.concurrency = concurrency;
  options.first_wait_s = 0.001;
  return options;
}

struct Interrupt {
  ~Interrupt() { set_interrupted(false); }
};

TEST(Session, AsksTransientFaultsAgain) {
  Scripted subject({fault(Fault::Server), fault(Fault::Connect)});
  Record record;
  Session session(subject, record, quick());
  const Sample sample = session.ask(item());
  EXPECT_EQ(sample.reply.text, "code0");
  EXPECT_EQ(sample.attempt, 3);
  EXPECT_EQ(sample.in_flight, 1);
  EXPECT_EQ(session.requests(), 3);
  EXPECT_EQ(record.attempts(sample.item.sid), 3);
}

TEST(Session, GivesUpAfterTheLastAttempt) {
  Scripted subject({fault(Fault::Server), fault(Fault::Server), fault(Fault::Server)});
  Record record;
  Session session(subject, record, quick());
  EXPECT_EQ(session.ask(item()).reply.fault, Fault::Server);
  EXPECT_EQ(subject.asked, 3);
  EXPECT_EQ(session.ask(item()).reply.fault, Fault::Server);  // not asked again by this run
  EXPECT_EQ(subject.asked, 3);
  EXPECT_EQ(record.samples().size(), 1U);
}

TEST(Session, WhatFailedForAWhileIsAskedAgainByTheNextRun) {
  Scripted down({fault(Fault::Connect), fault(Fault::Connect), fault(Fault::Connect)});
  Record record;
  EXPECT_FALSE(Session(down, record, quick()).ask(item()).reply.answered());
  Scripted up;
  Session later(up, record, quick());
  const Sample sample = later.ask(item());
  EXPECT_TRUE(sample.reply.answered());
  EXPECT_EQ(sample.attempt, 4);
  ASSERT_EQ(record.samples().size(), 1U);
  EXPECT_TRUE(record.samples()[0].reply.answered());
  EXPECT_EQ(Session(down, record, quick()).ask(item()).reply.text, "code0");  // from the record
  EXPECT_EQ(down.asked, 3);
}

TEST(Session, WhatIsTheServersWayToAnswerIsNotAskedAgain) {
  Scripted subject(std::deque<Reply>(4, fault(Fault::NoEnd)));
  Record record;
  Session(subject, record, quick()).ask(item());
  EXPECT_EQ(subject.asked, 2);
  EXPECT_EQ(Session(subject, record, quick()).ask(item()).reply.fault, Fault::NoEnd);
  EXPECT_EQ(subject.asked, 2);
}

TEST(Session, EachFaultIsWorthItsAttempts) {
  const std::vector<std::pair<Fault, int64_t>> expected{
      {Fault::Overflow, 1},  {Fault::RateLimit, 1}, {Fault::Client, 1},  {Fault::Auth, 1},
      {Fault::FirstByte, 1}, {Fault::Deadline, 1},  {Fault::TooMuch, 1}, {Fault::Idle, 2},
      {Fault::NoEnd, 2},     {Fault::Format, 2},    {Fault::Connect, 3}, {Fault::Cut, 3},
      {Fault::Server, 3}};
  for (const auto& [kind, attempts] : expected) {
    Scripted subject(std::deque<Reply>(10, fault(kind)));
    Record record;
    Session session(subject, record, quick());
    EXPECT_EQ(session.ask(item()).reply.fault, kind);
    EXPECT_EQ(subject.asked, attempts) << name_of(kind);
  }
}

TEST(Session, ComesBackWhenAServerIsBusyForLongerThanItsAttempts) {
  Scripted subject(std::deque<Reply>(6, fault(Fault::Busy)));
  Record record;
  Session session(subject, record, quick());
  EXPECT_TRUE(session.ask(item()).reply.answered());
  EXPECT_EQ(subject.asked, 7);
}

TEST(Session, WaitsAsLongAsItIsTold) {
  Scripted subject({fault(Fault::Busy, 0.15)});
  Record record;
  Session session(subject, record, quick());
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(session.ask(item()).reply.answered());
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(150));
}

TEST(Session, DoesNotWaitLongerThanAllowed) {
  Scripted subject({fault(Fault::Busy, 61)});
  Record record;
  Session session(subject, record, quick());
  EXPECT_EQ(session.ask(item()).reply.fault, Fault::Busy);
  EXPECT_EQ(subject.asked, 1);

  Scripted busy(std::deque<Reply>(50, fault(Fault::Busy, 0.02)));
  SessionOptions options = quick();
  options.longest_wait_s = 0.1;
  Record other;
  EXPECT_EQ(Session(busy, other, options).ask(item()).reply.fault, Fault::Busy);
  EXPECT_LE(busy.asked, 6);
  EXPECT_GE(busy.asked, 3);
}

TEST(Session, AnswersFromTheRecordWithTheItemsOwnPrompt) {
  Scripted subject;
  Record record;
  Session(subject, record, quick()).ask_all(items(5));
  EXPECT_EQ(subject.asked, 5);
  Session again(subject, record, quick());
  const std::vector<Sample> samples = again.ask_all(items(5));
  EXPECT_EQ(subject.asked, 5);
  EXPECT_TRUE(again.replayed());
  for (int64_t i = 0; i < 5; ++i) {
    const Sample& sample = samples[static_cast<size_t>(i)];
    EXPECT_EQ(sample.reply.text, "code" + std::to_string(i));
    EXPECT_EQ(sample.item.ask.messages.front().content, "say code" + std::to_string(i));
  }
}

TEST(Session, KeepsTheOrderOfItemsAndTheBoundOfItsPool) {
  Scripted subject;
  subject.hold_ms = 2;
  Record record;
  int64_t seen = 0;
  Session session(subject, record, quick(4), [&](const Sample&) { ++seen; });
  const std::vector<Sample> samples = session.ask_all(items(60));
  ASSERT_EQ(samples.size(), 60U);
  for (int64_t i = 0; i < 60; ++i) {
    EXPECT_EQ(samples[static_cast<size_t>(i)].reply.text, "code" + std::to_string(i));
    EXPECT_LE(samples[static_cast<size_t>(i)].in_flight, 4);
  }
  EXPECT_EQ(seen, 60);
  EXPECT_LE(subject.most_in_flight, 4);
  EXPECT_GE(subject.most_in_flight, 2);
}

TEST(Session, GroupsGoTogetherAndCountOnlyWhole) {
  Scripted subject;
  subject.hold_ms = 30;
  Record record;
  Session session(subject, record, quick());
  session.ask(item(0));  // alone: no part of a group
  const std::vector<Sample> samples = session.ask_together(items(4));
  EXPECT_EQ(subject.asked, 5);
  EXPECT_EQ(subject.most_in_flight, 4);
  EXPECT_EQ(samples[1].in_flight, 4);
}

TEST(Session, AGroupOnRecordIsNotAskedAgain) {
  Scripted subject;
  Record record;
  Session session(subject, record, quick());
  session.ask_together(items(3));
  EXPECT_EQ(session.ask_together(items(3))[2].reply.text, "code2");
  EXPECT_EQ(subject.asked, 3);
}

TEST(Session, FaultsOfAGroupAreNotAskedAgain) {
  Scripted subject(std::deque<Reply>(3, fault(Fault::Server)));
  Record record;
  Session session(subject, record, quick());
  for (const Sample& sample : session.ask_together(items(3))) {
    EXPECT_EQ(sample.reply.fault, Fault::Server);
  }
  EXPECT_EQ(subject.asked, 3);
}

TEST(Session, StopsOnCtrlCAndGoesOnWhereItWas) {
  const Interrupt reset;
  Scripted subject;
  Record record;
  subject.after_asks = 7;
  Session session(subject, record, quick(2));
  EXPECT_THROW(session.ask_all(items(20)), Interrupted);
  const int64_t asked = subject.asked;
  EXPECT_LE(asked, 8);
  set_interrupted(false);
  subject.after_asks = 0;
  EXPECT_EQ(session.ask_all(items(20)).size(), 20U);
  EXPECT_EQ(subject.asked, 20);
}

TEST(Session, CtrlCEndsAWait) {
  const Interrupt reset;
  Scripted subject({fault(Fault::Busy, 30)});
  subject.after_asks = 1;
  Record record;
  Session session(subject, record, quick());
  try {
    session.ask(item());
    FAIL();
  } catch (const Interrupted& stopped) {
    EXPECT_STREQ(stopped.what(),
                 "accept: interrupted; what was answered is kept, the same command goes on");
  }
}

}  // namespace
}  // namespace gyre::accept
