// Level 3: do two statements about one key agree? Flat: two codes, nothing settles it. Amended: two
// dated codes, the later date holds. Withdrawn: one of two codes was withdrawn. NearMiss: the
// second code has another key. Some records about other keys stand by.
#include <algorithm>

#include "gyre/accept/tasks/prompt.h"
#include "gyre/accept/text/codes.h"
#include "gyre/accept/text/records.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kOthers = 4;  // records that nobody asks for
constexpr int64_t kSameKey = 5;

const char* name_of(Conflict form) {
  static constexpr const char* kNames[] = {"flat", "amended", "withdrawn", "near_miss"};
  return kNames[static_cast<size_t>(form)];
}

/// Two days in the years 2015 to 2024, the earlier first.
std::pair<std::string, std::string> dates(Rng& rng) {
  const auto day = [&](uint64_t year) {
    const auto two = [](uint64_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
    return str(year, "-", two(1 + rng.below(12)), "-", two(1 + rng.below(28)));
  };
  const uint64_t first = 2015 + rng.below(5);
  const std::string early = day(first);
  return {early, day(first + 1 + rng.below(4))};
}

/// The two statements of a form; `early` is the one that does not hold any more, if one does not.
struct Pair {
  std::string early, late;
  std::vector<std::string> gold;
  std::string wrong;  // code that stands there but is no answer
};

Pair write_pair(const Contradiction& dials, const Key& key, const std::string& a,
                const std::string& b, Rng& rng) {
  const auto [first_day, second_day] = dates(rng);
  const Key near = similar_key(rng, key, 4);
  switch (dials.form) {
    case Conflict::Flat:
      return {record(key, "code", a), record(key, "code", b), {a, b}, ""};
    case Conflict::Amended:
      return {record(key, "code", a, first_day), record(key, "code", b, second_day), {b}, a};
    case Conflict::Withdrawn:
      return {
          record(key, "code", a),
          "The code " + a + " of " + key_text(key) + " was withdrawn. " + record(key, "code", b),
          {b},
          a};
    case Conflict::NearMiss:
      break;
  }
  return {record(near, "code", a), record(key, "code", b), {b}, a};
}

void add_others(Draft& draft, const Frame& frame, const Key& key, CodeSource& codes) {
  Rng rng(frame.seed, draft.salt + "/others");
  std::vector<Key> keys;
  while (std::ssize(keys) < kOthers) {
    const Key other = similar_key(rng, key, 2);
    if (std::find(keys.begin(), keys.end(), other) == keys.end()) {
      keys.push_back(other);
      const double fraction = rng.uniform();
      const std::string code = codes.next();
      draft.statements.push_back({fraction, record(other, "code", code), Role::Other});
      draft.item.distractors.push_back({code, equal_slots(other, key), fraction});
    }
  }
}

}  // namespace

Item make_contradiction(const Contradiction& dials, const Frame& frame) {
  Draft draft;
  draft.arm = dials.arm;
  draft.item.level = 3;
  draft.item.task = "contradiction";
  draft.item.index = dials.index;
  draft.item.form = AnswerForm::Agreement;
  draft.salt = str("contradiction/", name_of(dials.form), "/", dials.index);
  draft.filler = draft.salt;
  Rng rng(frame.seed, draft.salt);
  CodeSource codes(frame.seed, draft.salt + "/codes", 0);
  const Key key = evidence_key(rng);
  const std::string a = codes.next(), b = codes.next(), twin = codes.next();
  const Pair pair = write_pair(dials, key, a, dials.arm == Arm::Swap ? twin : b, rng);
  const double first = std::min(dials.first, dials.second);
  const double second = std::max(dials.first, dials.second);
  draft.statements = {{dials.later_first ? second : first, pair.early, Role::Evidence},
                      {dials.later_first ? first : second, pair.late, Role::Evidence}};
  draft.item.gold = pair.gold;
  if (!pair.wrong.empty()) {
    const int64_t equal = dials.form == Conflict::NearMiss ? kSlots - 1 : kSameKey;
    draft.item.distractors.push_back({pair.wrong, equal, draft.statements[0].fraction});
  }
  add_others(draft, frame, key, codes);
  draft.item.dials = {{"form", name_of(dials.form)},
                      {"class", dials.form == Conflict::Flat ? "CONFLICT" : "CONSISTENT"},
                      {"first", decimals(first)},
                      {"second", decimals(second)},
                      {"distance", decimals(second - first)},
                      {"later_first", dials.later_first ? "yes" : "no"}};
  draft.question =
      "Do the records agree on the code of " + key_text(key) +
      "? A later date or a withdrawal settles it. Answer CONSISTENT and the code that holds, "
      "CONFLICT and both codes, or NONE if the text does not say.";
  return finish(std::move(draft), frame);
}

}  // namespace gyre::accept
