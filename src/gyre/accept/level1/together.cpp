// Four long prompts at once against each of them alone. One of them begins like a prompt that was
// asked before and ends otherwise: a cache of prefixes that mixes them up answers the old codes.
#include <algorithm>

#include "gyre/accept/level1/steps.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int kGroupTries = 3;  // of a group whose requests were sent away as too many

struct Count {
  int64_t asked = 0, ok = 0, faults = 0, bad = 0, flips = 0;
  std::vector<Seen> shown;
};

bool is_bad(const Prober& prober, const Seen& seen) {
  if (!seen.reply().answered()) {
    return true;
  }
  const auto few = std::max<int64_t>(1, int64_t(seen.stripes.size()) / 8);
  return prober.able && (seen.outcome == Outcome::Empty || seen.wrong() > few);
}

bool is_flip(const Prober& prober, const Seen& seen) {
  return prober.able && seen.reply().answered() && !is_bad(prober, seen) &&
         seen.outcome == Outcome::Lost;
}

/// The later half of the codes replaced by others of equal length.
Item with_other_end(Item item, uint64_t seed) {
  Rng rng(seed, "other end");
  for (size_t i = item.gold.size() / 2; i < item.gold.size(); ++i) {
    const std::string code = make_code(rng);
    for (Message& message : item.ask.messages) {
      const size_t at = message.content.find(item.gold[i]);
      if (at != std::string::npos) {
        message.content.replace(at, code.size(), code);
      }
    }
    const size_t at = item.sentences[i].find(item.gold[i]);
    if (at != std::string::npos) {
      item.sentences[i].replace(at, code.size(), code);
    }
    item.gold[i] = code;
  }
  item.dials["other_end"] = "1";
  item.sid.clear();
  item.occasion = 0;
  return item;
}

std::vector<Seen> ask_group(Prober& prober, std::vector<Item> items) {
  std::vector<Seen> group;
  for (int attempt = 0; attempt < kGroupTries; ++attempt) {
    group = prober.ask_together(items);
    const bool busy = std::any_of(group.begin(), group.end(), [](const Seen& seen) {
      return seen.reply().fault == Fault::Busy;
    });
    if (!busy) {
      break;
    }
    for (Item& item : items) {
      ++item.occasion;
    }
  }
  return group;
}

std::vector<Item> fresh_items(Prober& prober, int64_t n, int64_t length) {
  std::vector<Item> items;
  for (int64_t i = 0; i < n; ++i) {
    RollCall dials;
    dials.salt = prober.fresh_salt();
    items.push_back(prober.roll_call(dials, length, prober.main));
  }
  return items;
}

/// A prompt that fails alone, too: an error of its length, and none of the company.
void add_error(Ladder& ladder, const Seen& seen) {
  for (Probe& probe : ladder.probes) {
    if (probe.planned && probe.length == seen.sample.item.length) {
      ++probe.errors;
      probe.evidence.push_back(seen.sid());
    }
  }
}

/// What of a group fails only in company.
Count count_group(Prober& prober, Ladder& ladder, const std::vector<Seen>& group) {
  Count count;
  for (const Seen& seen : group) {
    ++count.asked;
    count.ok += seen.outcome == Outcome::Kept;
    count.faults += !seen.reply().answered();
    const bool busy = seen.reply().fault == Fault::Busy;
    if (busy || (!is_bad(prober, seen) && !is_flip(prober, seen))) {
      continue;
    }
    const Seen alone = prober.again(seen);
    if (!alone.reply().answered()) {
      add_error(ladder, alone);
      continue;
    }
    if (alone.outcome != Outcome::Kept && prober.able) {
      if (seen.near_miss && alone.stripes != seen.stripes) {
        ++count.flips;
      }
      continue;
    }
    if (is_flip(prober, seen)) {
      ++ladder.asked_again;
      ++ladder.flips;
      ++count.flips;
      for (const auto& sid : sids({seen, alone})) {
        ladder.flip_evidence.push_back(sid);
      }
    } else {
      ++count.bad;
    }
    count.shown.push_back(seen);
  }
  return count;
}

void add_row(Prober& prober, int64_t in_flight, const Count& count,
             const std::vector<Seen>& group) {
  ConcurrencyRow row{in_flight, count.asked, count.ok, count.faults, sids(group)};
  for (ConcurrencyRow& known : prober.bench.result.one.concurrency) {
    if (known.in_flight == in_flight) {
      known.asked += row.asked;
      known.ok += row.ok;
      known.faults += row.faults;
      known.evidence.insert(known.evidence.end(), row.evidence.begin(), row.evidence.end());
      return;
    }
  }
  prober.bench.result.one.concurrency.push_back(std::move(row));
}

Count one_group(Prober& prober, Ladder& ladder, std::vector<Item> items) {
  const auto in_flight = int64_t(items.size());
  const auto group = ask_group(prober, std::move(items));
  const Count count = count_group(prober, ladder, group);
  add_row(prober, in_flight, count, group);
  return count;
}

/// The prompt with the old beginning answered with the old codes.
void check_mixup(Prober& prober, const Seen& base, const Seen& other_end) {
  if (!prober.able || !other_end.reply().answered() || other_end.outcome == Outcome::Kept) {
    return;
  }
  const auto codes = codes_in(other_end.text);
  int64_t old_codes = 0;
  for (size_t i = base.sample.item.gold.size() / 2; i < base.sample.item.gold.size(); ++i) {
    old_codes += std::count(codes.begin(), codes.end(), base.sample.item.gold[i]) > 0;
  }
  if (old_codes < int64_t(base.sample.item.gold.size()) / 4) {
    return;
  }
  prober.bench.find(
      "CACHE_DIVERGENCE",
      str("a prompt that begins like an earlier one and ends otherwise was answered with ",
          old_codes, " codes of the earlier one"),
      sids({base, other_end}));
}

void shared(Prober& prober, Ladder& ladder, const Count& first, int64_t length) {
  Count second = one_group(prober, ladder, fresh_items(prober, 4, length));
  if (2 * (first.bad + second.bad) < first.asked + second.asked || second.bad == 0) {
    return;
  }
  const Count two = one_group(prober, ladder, fresh_items(prober, 2, length));
  auto shown = sids(first.shown);
  const auto more = sids(second.shown);
  shown.insert(shown.end(), more.begin(), more.end());
  const Reply& reply = first.shown.front().reply();
  prober.bench.find(
      "SHARED_KV",
      str(first.bad + second.bad, " of ", first.asked + second.asked, " prompts of ", length,
          " tokens failed four at a time, ", two.bad, " of ", two.asked,
          " two at a time; each of them is kept alone",
          reply.answered() ? std::string() : str(" (", reply.fault_text, ")")),
      shown,
      {{"failed_at_4", str(first.bad + second.bad, " of ", first.asked + second.asked)},
       {"failed_at_2", str(two.bad, " of ", two.asked)}});
}

}  // namespace

void test_together(Prober& prober, Ladder& ladder) {
  const Probe* longest = nullptr;
  for (const Probe& probe : ladder.probes) {
    if (probe.planned && probe.api == prober.main && probe.errors == 0 &&
        (probe.whole() || (!prober.able && probe.loss == Loss::Weak))) {
      longest = &probe;
    }
  }
  if (longest == nullptr || !prober.bench.session.subject().concurrent()) {
    return;
  }
  const int64_t length = longest->length;
  const auto base = std::find_if(prober.all.begin(), prober.all.end(), [&](const Seen& seen) {
    return seen.sid() == longest->evidence.front();
  });
  auto items = fresh_items(prober, 4, length);
  const Seen known = base == prober.all.end() ? Seen() : *base;
  const bool pair = known.outcome == Outcome::Kept;
  if (pair) {
    items.front() = with_other_end(known.sample.item, uint64_t(prober.options().seed));
  }
  add_row(prober, 1, {1, known.outcome == Outcome::Kept, !known.reply().answered(), 0, 0, {}},
          {known});
  const auto group = ask_group(prober, std::move(items));
  const Count count = count_group(prober, ladder, group);
  add_row(prober, 4, count, group);
  if (pair) {
    check_mixup(prober, known, group.front());
  }
  if (count.bad > 0) {
    shared(prober, ladder, count, length);
  }
}

}  // namespace gyre::accept
