// Level 1: a text in 16 stripes with one checkpoint in the middle of each. The question stands
// before and after the text, so that a text that lost its beginning or its end is still asked
// about.
#include <cmath>

#include "gyre/accept/tasks/prompt.h"
#include "gyre/accept/text/codes.h"
#include "gyre/accept/text/filler.h"
#include "gyre/accept/text/sentences.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kLongestProbe = 60;  // bytes of the sentence that the influence probe changes

std::string question(const RollCall& dials) {
  if (dials.only > 0) {
    return str("What is the code of checkpoint ", dials.only,
               "? Answer with the code alone, or NONE if the text has no such checkpoint.");
  }
  return str("List the codes of checkpoints 1 to ", dials.stripes,
             " in order. Write one line for each, the number, a colon and the code, "
             "with NONE in place of a code that the text does not have.");
}

void check(const RollCall& dials) {
  if (dials.stripes < 1 || dials.only < 0 || dials.only > dials.stripes ||
      dials.changed >= dials.stripes || dials.turns < 1 || dials.turns > dials.stripes + 1) {
    throw Error(Code::Internal, "roll call: only ", dials.only, ", changed ", dials.changed,
                ", turns ", dials.turns, " do not fit ", dials.stripes, " stripes");
  }
}

/// Bytes of the probe sentence of each stripe, 0 where the text is too short for any.
int64_t probe_bytes(int64_t haystack, int64_t taken, int64_t stripes) {
  const int64_t each = (haystack - taken - 2 * kShortestSentence) / stripes / 2;
  return each < kShortestSentence ? 0 : std::min(each, kLongestProbe);
}

/// Checkpoint and probe of each stripe, in the order of the text.
void add_stripes(Draft& draft, const RollCall& dials, const Frame& frame, int64_t haystack) {
  CodeSource codes(frame.seed, draft.salt + "/codes", 0);
  std::vector<std::string> checkpoints;
  int64_t taken = int64_t(dials.odd.size()) + 1;
  for (int64_t i = 1; i <= dials.stripes; ++i) {
    draft.item.gold.push_back(codes.next());
    checkpoints.push_back(str("Checkpoint ", i, ": ", draft.item.gold.back(), "."));
    taken += int64_t(checkpoints.back().size()) + 1;
  }
  const int64_t probe = probe_bytes(haystack, taken, dials.stripes);
  if (dials.changed >= 0 && probe == 0) {
    throw NoRoom("roll call: a text of ", haystack, " bytes has no sentence in stripe ",
                dials.changed + 1, " that could be replaced; ask for a longer prompt");
  }
  for (int64_t i = 0; i < dials.stripes; ++i) {
    const auto place = [&](double share) { return (double(i) + share) / double(dials.stripes); };
    if (probe > 0) {
      const auto* stream = i == dials.changed ? "/changed" : "/probe";
      Rng rng(frame.seed, draft.salt + stream, uint64_t(i));
      draft.statements.push_back({place(0.25), filler_sentence(rng, probe), Role::Placeholder});
    }
    draft.statements.push_back({place(0.5), checkpoints[size_t(i)], Role::Evidence});
  }
  if (!dials.odd.empty()) {
    draft.statements.push_back({0.5, dials.odd, Role::Other});
  }
}

/// One checkpoint alone: the others are the wrong answers.
void ask_one(Item& item, int64_t only) {
  item.form = AnswerForm::Codes;
  const std::string code = item.gold[size_t(only - 1)];
  for (size_t i = 0; i < item.gold.size(); ++i) {
    if (int64_t(i) != only - 1) {
      item.distractors.push_back({item.gold[i], 0, (double(i) + 0.5) / double(item.gold.size())});
    }
  }
  item.gold = {code};
}

/// Bytes before which the text may be cut into messages: the starts of checkpoints.
std::vector<int64_t> cuts(const RollCall& dials, const Draft& draft, const Haystack& haystack) {
  std::vector<int64_t> starts, at;
  for (size_t i = 0; i < draft.statements.size(); ++i) {
    if (draft.statements[i].role == Role::Evidence) {
      starts.push_back(haystack.offsets[i]);
    }
  }
  for (int64_t turn = 1; turn < dials.turns; ++turn) {
    at.push_back(starts[size_t(turn * dials.stripes / dials.turns)]);
  }
  return at;
}

/// system, user, assistant, user, ...: every text message but the first is the user's.
std::vector<Message> spread(const std::vector<std::string>& texts) {
  std::vector<Message> messages{{"system", texts.front()}};
  for (size_t i = 1; i < texts.size(); ++i) {
    if (i > 1) {
      messages.push_back({"assistant", "Understood."});
    }
    messages.push_back({"user", texts[i]});
  }
  return messages;
}

void write_messages(Item& item, Draft& draft, const RollCall& dials, const Frame& frame) {
  const std::string opening = with_salt(draft, frame) + draft.question + "\n";
  const std::string ending = "\n" + draft.question + cue(frame.api);
  const int64_t replies = std::max<int64_t>(0, dials.turns - 2);
  const int64_t other = int64_t(opening.size() + ending.size()) + 11 * replies;
  add_stripes(draft, dials, frame, frame.haystack_bytes(other));
  const Haystack haystack = lay_out(draft, frame, other);
  std::vector<std::string> texts;
  int64_t begin = 0;
  for (const int64_t cut : cuts(dials, draft, haystack)) {
    texts.push_back(haystack.text.substr(size_t(begin), size_t(cut - begin)));
    begin = cut;
  }
  texts.push_back(haystack.text.substr(size_t(begin)) + ending);
  texts.front() = opening + texts.front();
  item.ask.messages = dials.turns == 1 ? std::vector<Message>{{"user", texts[0]}} : spread(texts);
  std::vector<int64_t> starts = haystack.offsets;
  for (auto& start : starts) {
    start += int64_t(opening.size());
  }
  item.gold = draft.item.gold;
  describe(item, draft.statements, starts, frame);
}

}  // namespace

Item make_roll_call(const RollCall& dials, const Frame& frame) {
  check(dials);
  Draft draft;
  draft.salt = str("roll_call/", dials.salt, "/", frame.length);
  draft.filler = draft.salt;
  draft.question = question(dials);
  Item item;
  item.level = 1;
  item.task = "roll_call";
  item.arm = name_of(Arm::Main);
  item.length = frame.length;
  item.index = dials.salt;
  item.form = AnswerForm::Numbered;
  item.ask.api = frame.api;
  item.ask.max_tokens = frame.max_tokens;
  item.dials = {{"salt", str(dials.salt)},   {"stripes", str(dials.stripes)},
                {"only", str(dials.only)},   {"changed", str(dials.changed)},
                {"turns", str(dials.turns)}, {"odd", str(dials.odd.size())}};
  write_messages(item, draft, dials, frame);
  if (dials.only > 0) {
    ask_one(item, dials.only);
  }
  return item;
}

}  // namespace gyre::accept
