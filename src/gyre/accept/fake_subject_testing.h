// A subject for tests of levels 2 and 3: it knows the items that a run will ask, looks each prompt
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
        bench{session, options, result} {
    result.options = options;
    result.calibration.source = "usage";
    result.calibration.overhead = 10;
  }

  /// Everything that the specs may ask, for each budget of answers up to the first `budgets`.
  void learn(const std::vector<Spec>& specs, int64_t budgets = 1) {
    Examiner examiner(bench);
    for (int64_t i = 0; i < budgets; ++i) {
      for (const Spec& spec : specs) {
        learn(examiner, spec, options.original_length);
        for (const int64_t length : options.lengths) {
          learn(examiner, spec, length);
        }
      }
      examiner.raise_budget();
    }
    result.answer_tokens = 0;
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

 private:
  void learn(Examiner& examiner, const Spec& spec, int64_t length) {
    for (const Slot& slot : slots(0, options.looks.back())) {
      for (const Arm arm :
           {Arm::Main, Arm::NoEvidence, Arm::Swap, Arm::Short, Arm::Alone, Arm::Reseed}) {
        try {
          subject.learn(examiner.item(spec, slot, arm, length));
        } catch (const Error&) {
          continue;  // no room
        }
      }
      for (int64_t step = 1; spec.steps && step <= spec.steps(slot.index); ++step) {
        try {
          subject.learn(examiner.labelled(spec, slot, length,
                                          spec.make_step(slot, step, examiner.frame(length))));
        } catch (const Error&) {
          continue;
        }
      }
    }
  }
};

}  // namespace gyre::accept::testing
