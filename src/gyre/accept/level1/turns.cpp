// The same text as one message and as several, the first of them the system message, with the
// question in the last one alone: what does the chat template lose?
#include <algorithm>
#include <set>

#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int64_t kTurns = 4;

Item several(Prober& prober, int64_t length, bool question_first) {
  RollCall dials;
  dials.salt = prober.fresh_salt();
  dials.turns = kTurns;
  Item item = prober.roll_call(dials, length, Api::Chat);
  if (question_first) {
    return item;
  }
  // The second line of the prompt is the question.
  std::string& text = item.ask.messages.front().content;
  const size_t begin = text.find('\n');
  const size_t end = begin == std::string::npos ? begin : text.find('\n', begin + 1);
  if (end != std::string::npos) {
    text.erase(begin, end - begin);
  }
  item.dials["question"] = "end";
  return item;
}

bool loses(const Seen& seen) {
  return seen.reply().answered() && seen.outcome != Outcome::Kept &&
         seen.wrong() >= std::max<int64_t>(2, int64_t(seen.stripes.size()) / 4);
}

/// Messages of which no code came back.
std::set<int64_t> lost_turns(const Seen& seen) {
  const auto n = int64_t(seen.stripes.size());
  std::set<int64_t> lost;
  for (int64_t turn = 0; turn < kTurns; ++turn) {
    const auto begin = turn * n / kTurns, end = (turn + 1) * n / kTurns;
    if (std::count(seen.stripes.begin() + begin, seen.stripes.begin() + end, 1) == 0) {
      lost.insert(turn);
    }
  }
  return lost;
}

/// A template loses whole messages, the same in every text; a weak model misses a code here and one
/// there.
bool lose_the_same(const Seen& a, const Seen& b) {
  const auto in_a = lost_turns(a), in_b = lost_turns(b);
  return std::any_of(in_a.begin(), in_a.end(), [&](int64_t turn) { return in_b.contains(turn); });
}

std::string lost_messages(const Seen& seen) {
  std::string lost;
  for (const int64_t turn : lost_turns(seen)) {
    lost += (lost.empty() ? "" : ", ") +
            (turn == 0 ? std::string("the system message") : str("user message ", turn));
  }
  return lost;
}

}  // namespace

void test_turns(Prober& prober, int64_t length) {
  const Seen first = prober.ask(several(prober, length, false));
  if (!loses(first)) {
    return;
  }
  const Seen second = prober.ask(several(prober, length, false));
  if (!loses(second) || !lose_the_same(first, second)) {
    return;
  }
  const Seen asked_first = prober.ask(several(prober, length, true));
  const std::string lost = lost_messages(asked_first);
  const std::string says =
      !loses(asked_first)        ? "the question at the end of the last message is not seen"
      : asked_first.right() == 0 ? "several messages get an answer without any of their codes"
                                 : str("codes are lost of ", lost.empty() ? "some messages" : lost);
  prober.bench.find("TEMPLATE_LOSS",
                    str("a text that comes back whole as one message loses ", first.wrong(), " of ",
                        first.stripes.size(), " codes as system message and turns: ", says),
                    sids({first, second, asked_first}), {{"lost", lost}});
}

}  // namespace gyre::accept
