// How often answers to the same bytes differ, alone and under load. Asked only of a server of which
// one answer changed before.
#include <algorithm>

#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr size_t kItems = 5, kTogether = 4;

struct Rate {
  int64_t asked = 0, changed = 0;
  double value() const { return asked > 0 ? double(changed) / double(asked) : kUnknown; }
};

/// Distinct short prompts that were answered.
std::vector<Seen> some_items(const Prober& prober) {
  std::vector<Seen> chosen;
  for (const Seen& seen : prober.all) {
    const Item& item = seen.sample.item;
    const bool fits = seen.reply().answered() && item.task == "roll_call" && item.occasion == 0 &&
                      item.gold.size() > 1 && item.ask.api == prober.main;
    if (fits && chosen.size() < kItems) {
      chosen.push_back(seen);
    }
  }
  return chosen;
}

void count(Rate& rate, const Seen& before, const Seen& now) {
  if (now.reply().answered()) {
    ++rate.asked;
    rate.changed += now.stripes != before.stripes;
  }
}

}  // namespace

void measure_flips(Prober& prober, Ladder& ladder) {
  LevelOne& one = prober.bench.result.one;
  one.flip_rate =
      ladder.asked_again > 0 ? double(ladder.flips) / double(ladder.asked_again) : kUnknown;
  if (ladder.flips == 0) {
    return;
  }
  const std::vector<Seen> items = some_items(prober);
  Rate alone, together;
  for (const Seen& before : items) {
    count(alone, before, prober.again(before));
  }
  std::vector<Item> group;
  for (const Seen& before : items) {
    if (group.size() < kTogether) {
      group.push_back(before.sample.item);
      group.back().sid.clear();
      group.back().occasion = 100;  // of the group, beside those asked alone
    }
  }
  const std::vector<Seen> answers = prober.ask_together(group);
  for (size_t i = 0; i < answers.size(); ++i) {
    count(together, items[i], answers[i]);
  }
  const int64_t asked = ladder.asked_again + alone.asked + together.asked;
  const int64_t changed = ladder.flips + alone.changed + together.changed;
  one.flip_rate = double(changed) / double(asked);
  auto evidence = ladder.flip_evidence;
  const auto more = sids(answers);
  evidence.insert(evidence.end(), more.begin(), more.end());
  prober.bench.find(
      "NONDETERMINISTIC",
      str(changed, " of ", asked, " answers changed their codes when the same bytes were asked ",
          "again: ", ladder.flips, " of ", ladder.asked_again, " at first, ", alone.changed, " of ",
          alone.asked, " then alone, ", together.changed, " of ", together.asked,
          " four at a time"),
      evidence,
      {{"flip_rate", str(one.flip_rate)},
       {"alone", str(alone.value())},
       {"at_4", str(together.value())},
       {"codes", "differ"}});
}

}  // namespace gyre::accept
