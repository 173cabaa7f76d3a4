// A subject for tests of levels 2 and 3: it is told each item before it is asked, looks its prompt
// up, and answers it from the gold with the chances that a test gives.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/quality/examiner.h"
#include "gyre/accept/record.h"
#include "gyre/accept/session.h"
#include "gyre/base/rng.h"

namespace gyre::accept::testing {

/// How the fake answers an item.
struct Manners {
  std::function<double(const Item&)> right = [](const Item&) { return 1.0; };
  std::function<double(const Item&)> guesses = [](const Item&) { return 0.0; };  // without evidence
  std::function<Fault(const Item&)> fault = [](const Item&) { return Fault::None; };
  std::string wrong = "NONE";  // none | invent | distractor: what a wrong answer says
  int64_t needs_tokens = 1;    // less: the answer is cut
};

class FakeSubject : public Subject {
 public:
  explicit FakeSubject(Manners manners) : manners_(std::move(manners)) {}
  std::string name() const override { return "fake"; }
  Facts discover() override { return {}; }
  bool concurrent() const override { return false; }
  bool can(Api) const override { return true; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }

  void learn(const Item& item) { known_.insert_or_assign(item.ask.messages.back().content, item); }

  Reply ask(const Ask& ask) override {
    ++asked;
    Reply reply;
    const auto at = known_.find(ask.messages.back().content);
    if (at == known_.end()) {
      ++unknown;
      reply.text = "I have read the text.";
      return reply;
    }
    const Item& item = at->second;
    reply.fault = manners_.fault(item);
    if (!reply.answered()) {
      reply.fault_text = "by the test";
      return reply;
    }
    reply.prompt_tokens = item.tokens_predicted;
    reply.completion_tokens = 8;
    reply.finish = ask.max_tokens < manners_.needs_tokens ? "length" : "stop";
    reply.reasoning = ask.max_tokens < manners_.needs_tokens ? "Let me think" : "";
    reply.text = ask.max_tokens < manners_.needs_tokens ? "" : answer(item);
    return reply;
  }

  int64_t asked = 0, unknown = 0;

 private:
  /// The same item gets the same answer at every time; another length may get another.
  double chance(const Item& item, std::string_view what) const {
    std::string key = str(item.task, item.arm, item.length, "/", item.index);
    for (const auto& [name, value] : item.dials) {
      key += name + "=" + value + ";";
    }
    return Rng(derive_seed(7, key), what).uniform();
  }

  std::string answer(const Item& item) const {
    const auto withheld = item.dials.find("withheld");
    if (item.gold.empty()) {
      const bool guess = chance(item, "guess") < manners_.guesses(item);
      return guess && withheld != item.dials.end() ? withheld->second : "NONE";
    }
    if (chance(item, "right") < manners_.right(item)) {
      std::string text = item.form == AnswerForm::Agreement ? item.dials.at("class") : "";
      for (const std::string& word : item.gold) {
        text += (text.empty() ? "" : " ") + word;
      }
      return text;
    }
    if (manners_.wrong == "distractor" && !item.distractors.empty()) {
      return item.distractors[0].code;
    }
    return manners_.wrong == "invent" ? "ZZZ-ZZZ" : "NONE";
  }

  Manners manners_;
  std::map<std::string, Item> known_;
};

/// A run of levels 2 or 3 in memory against the fake.
struct FakeRun {
  AcceptOptions options;
  FakeSubject subject;
  Record record;
  Session session;
  Acceptance result;
  Bench bench;

  FakeRun(AcceptOptions chosen, Manners manners)
      : options(std::move(chosen)),
        subject(std::move(manners)),
        session(subject, record, {}),
        bench{session, options, result, {}} {
    result.options = options;
    result.calibration.source = "usage";
    result.calibration.overhead = 10;
    bench.on_item = [this](const Item& item) { subject.learn(item); };
  }

  const Cell& cell(const std::string& task, const std::string& arm, int64_t length,
                   const std::map<std::string, std::string>& dials) const {
    for (const Cell& one : result.cells) {
      if (one.task == task && one.arm == arm && one.length == length && one.dials == dials) {
        return one;
      }
    }
    throw Error(Code::Internal, "no cell ", task, " ", arm, " ", length);
  }

  const Measure& measure(const std::string& id, int64_t length,
                         const std::string& task = "") const {
    for (const Measure& one : result.measures) {
      if (one.id == id && one.length == length && (task.empty() || one.task == task)) {
        return one;
      }
    }
    throw Error(Code::Internal, "no measure ", id, " at ", length);
  }
};

}  // namespace gyre::accept::testing
