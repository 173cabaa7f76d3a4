// Ranking mode, for base models: a plain continuation whose value is one token. Two worked examples
// show the form; their values are those of distractors, so five of the ten digits stand nowhere.
#include <algorithm>
#include <set>

#include "gyre/accept/tasks/prompt.h"
#include "gyre/accept/text/records.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kExamples = 2;

std::string statement(const std::string& name, const std::string& value) {
  return "The code for " + name + " is " + value + ".";
}

void check(const Ranked& dials) {
  if (dials.candidates < 2 || dials.candidates > 10 || dials.distractors < kExamples ||
      dials.distractors > dials.candidates - 2) {
    throw Error(Code::Internal, "ranked: candidates ", dials.candidates, ", distractors ",
                dials.distractors, " must be 2 to 10, 2 to candidates - 2 (one is the twin's)");
  }
}

/// The ten digits in a drawn order: gold, distractors, the twin's, absent ones.
std::vector<std::string> draw_digits(Rng& rng) {
  std::vector<std::string> digits;
  for (int i = 0; i < 10; ++i) {
    digits.push_back(std::to_string(i));
  }
  for (size_t i = 9; i > 0; --i) {
    std::swap(digits[i], digits[rng.below(i + 1)]);
  }
  return digits;
}

/// "The code for ... is 7. The code for ... is 7.": a statement and its continuation.
std::string examples(Rng& rng, const std::vector<std::string>& digits) {
  std::string text;
  for (size_t i = 1; i <= kExamples; ++i) {
    const std::string line = statement(plain_name(evidence_key(rng, Family::Plain)), digits[i]);
    text += (text.empty() ? "" : "\n") + line + " " + line;
  }
  return text;
}

void add_distractors(Draft& draft, const Ranked& dials, const Key& key, Rng& rng,
                     const std::vector<std::string>& digits) {
  std::set<Key> taken{key};
  for (int64_t i = 1; i <= dials.distractors; ++i) {
    Key other = similar_key(rng, key, 2, Family::Plain);
    while (!taken.insert(other).second) {
      other = similar_key(rng, key, 2, Family::Plain);
    }
    const double fraction = rng.uniform();
    draft.statements.push_back(
        {fraction, statement(plain_name(other), digits[size_t(i)]), Role::Other});
    draft.item.distractors.push_back({digits[size_t(i)], equal_slots(other, key), fraction});
  }
}

}  // namespace

Item make_ranked(const Ranked& dials, const Frame& frame) {
  check(dials);
  Draft draft;
  draft.arm = dials.arm;
  draft.item.level = 2;
  draft.item.task = "ranked";
  draft.item.index = dials.index;
  draft.item.form = AnswerForm::Ranking;
  draft.salt = str("ranked/", dials.index);
  draft.filler = draft.salt;
  Rng rng(frame.seed, draft.salt);
  const auto digits = draw_digits(rng);
  const std::string& twin = digits[size_t(dials.distractors) + 1];
  const Key key = evidence_key(rng, Family::Plain);
  const std::string value = dials.arm == Arm::Swap ? twin : digits[0];
  draft.head = examples(rng, digits);
  draft.item.gold = {value};
  draft.statements = {{dials.fraction, statement(plain_name(key), value), Role::Evidence}};
  add_distractors(draft, dials, key, rng, digits);
  draft.item.dials = {{"fraction", decimals(dials.fraction)},
                      {"k", str(dials.distractors)},
                      {"candidates", str(dials.candidates)},
                      {"twin", dials.arm == Arm::Swap ? digits[0] : twin}};
  draft.question = "The code for " + plain_name(key) + " is";
  draft.continuation = true;
  Item item = finish(std::move(draft), frame);
  for (int64_t i = 0; i < dials.candidates; ++i) {
    item.ask.candidates.push_back(" " + digits[size_t(i)]);
  }
  std::sort(item.ask.candidates.begin(), item.ask.candidates.end());
  return item;
}

}  // namespace gyre::accept
