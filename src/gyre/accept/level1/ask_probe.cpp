// One prompt size: the roll call, and more requests only where it did not come back whole: the
// same bytes again, another text, log-probabilities, single stripes.
#include <algorithm>

#include "gyre/accept/level1/garbage.h"
#include "gyre/accept/level1/influence.h"
#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int kOtherTexts = 2;        // tried before a length counts as failing
constexpr int64_t kAlternatives = 5;  // likeliest tokens beside each of an answer

void note(Probe& probe, const Seen& seen) {
  for (auto& sid : sids({seen})) {
    if (std::find(probe.evidence.begin(), probe.evidence.end(), sid) == probe.evidence.end()) {
      probe.evidence.push_back(sid);
    }
  }
}

Probe begin(const Seen& seen, int64_t length, Api api) {
  Probe probe;
  probe.length = length;
  probe.api = api;
  probe.tokens = seen.predicted;
  probe.answer = seen.sample.item.ask.max_tokens;
  probe.reported = seen.reported;
  probe.stripes = seen.stripes;
  probe.stripes_n = seen.stripes.size();
  probe.read.assign(seen.stripes.size(), -1);
  probe.counted_less = seen.counted_less();
  probe.limit = seen.reply().limit_tokens;
  note(probe, seen);
  return probe;
}

void failed(Probe& probe, const Seen& seen) {
  ++probe.errors;
  const Reply& reply = seen.reply();
  probe.closed = probe.closed ||
                 (reply.http == 0 && (reply.fault == Fault::Connect || reply.fault == Fault::Cut));
  probe.server_error = probe.server_error || reply.http >= 500;
  probe.hung = probe.hung || reply.fault == Fault::FirstByte || reply.fault == Fault::Deadline;
}

/// What the influence probe is asked about: both ends of the gap, and a part that came back.
std::vector<int64_t> stripes_to_probe(const Gap& gap, int64_t n) {
  std::vector<int64_t> chosen;
  const auto add = [&](int64_t stripe) {
    stripe = std::clamp<int64_t>(stripe, 0, n - 1);
    if (std::find(chosen.begin(), chosen.end(), stripe) == chosen.end()) {
      chosen.push_back(stripe);
    }
  };
  const bool wide = gap.last > gap.first;
  switch (gap.shape) {
    case Shape::Head:
      add(gap.last - (wide ? 1 : 0));  // the last missing one may be cut in two
      add(0);
      add(n - 1);
      break;
    case Shape::Tail:
      add(gap.first + (wide ? 1 : 0));
      add(n - 1);
      add(0);
      break;
    case Shape::Middle:
      add((gap.first + gap.last) / 2);
      add(0);
      break;
    default:
      add(0);
      add(n / 2);
      add(n - 1);
  }
  return chosen;
}

void use_influence(Prober& prober, Probe& probe) {
  const auto n = int64_t(probe.stripes_n);
  const Influence found =
      influence(prober, probe.length, probe.api, stripes_to_probe(probe.gap, n));
  for (const auto& [stripe, moved] : found.moved) {
    const Reading reading = found.of(stripe);
    probe.read[size_t(stripe)] = reading == Reading::Read      ? 1
                                 : reading == Reading::NotRead ? 0
                                                               : -1;
  }
  probe.evidence.insert(probe.evidence.end(), found.evidence.begin(), found.evidence.end());
}

/// -1 nothing is known of the missing stripes, 0 none that was probed was read, 1 some were.
int missing_were_read(const Probe& probe) {
  int answer = -1;
  for (size_t i = 0; i < probe.stripes.size(); ++i) {
    if (probe.stripes[i] != 1 && probe.read[i] >= 0) {
      answer = std::max(answer, probe.read[i]);
    }
  }
  return answer;
}

bool some_was_not_read(const Probe& probe) {
  return std::find(probe.read.begin(), probe.read.end(), 0) != probe.read.end();
}

/// The side of the loss when stripes do not tell: by what was not read, else the beginning.
void gap_by_reading(Probe& probe) {
  const auto n = int64_t(probe.stripes_n);
  const auto lost = [&](int64_t i) { return probe.read[size_t(i)] == 0; };
  probe.gap = lost(0)       ? Gap{Shape::Head, 0, lost(n - 1) ? n - 1 : n / 2}
              : lost(n - 1) ? Gap{Shape::Tail, lost(n / 2) ? n / 2 : n - 1, n - 1}
              : lost(n / 2) ? Gap{Shape::Middle, n / 2, n / 2}
                            : Gap{Shape::Head, 0, 0};
}

bool one_side(const Gap& gap) {
  return gap.shape == Shape::Head || gap.shape == Shape::Middle || gap.shape == Shape::Tail;
}

/// The same part is missing in another text of this length.
bool same_gap(const Gap& a, const Gap& b) {
  return a.shape == b.shape && std::abs(a.first - b.first) <= 1 && std::abs(a.last - b.last) <= 1;
}

/// The same part is missing in further texts too: one or two that a weak model missed by chance
/// stand in the same place of two texts now and then.
bool recurs(Prober& prober, Probe& probe) {
  constexpr int kFurther = 2;
  for (int i = 0; i < kFurther; ++i) {
    RollCall dials;
    dials.salt = prober.fresh_salt();
    const Seen fresh = prober.ask(dials, probe.length, probe.api);
    note(probe, fresh);
    if (!fresh.reply().answered() || !same_gap(probe.gap, gap_of(fresh.stripes))) {
      return false;
    }
  }
  return true;
}

/// The codes at both ends of the gap, asked for alone: an answer that breaks off early, or begins
/// late, is no loss of text.
bool come_alone(Prober& prober, Probe& probe) {
  const auto comes = [&](int64_t stripe) {
    return ask_alone(prober, probe, stripe + 1).outcome == Outcome::Kept;
  };
  return comes(probe.gap.first) && (probe.gap.last == probe.gap.first || comes(probe.gap.last));
}

/// Some codes are missing, or all: was the text read, and is it always the same part?
void explain_missing(Prober& prober, Ladder& ladder, Probe& probe, const Seen& seen) {
  place_gap(probe, seen);
  const bool all = probe.gap.shape == Shape::All;
  Gap other = probe.gap;
  if (prober.able && !all) {
    RollCall dials;
    dials.salt = prober.fresh_salt();
    const Seen fresh = prober.ask(dials, probe.length, probe.api);
    note(probe, fresh);
    other = gap_of(fresh.stripes);
    probe.counted_less = probe.counted_less && fresh.counted_less();
  }
  if (probe.counted_less && one_side(probe.gap) && same_gap(probe.gap, other)) {
    probe.loss = Loss::Cut;
    return;
  }
  use_influence(prober, probe);
  const int were_read = missing_were_read(probe);
  bool steady = prober.able && one_side(probe.gap) && same_gap(probe.gap, other);
  if (steady && were_read != 0 && !probe.counted_less) {  // the codes alone say so
    steady = recurs(prober, probe);
  }
  if (steady && were_read != 0 && !probe.counted_less && come_alone(prober, probe)) {
    probe.by_one = true;
    probe.loss = Loss::None;
    std::fill(probe.stripes.begin(), probe.stripes.end(), 1);
    return;
  }
  // A weak model misses codes everywhere: there one part that was not read is enough. Where one
  // side is missing, lower layers may pass on the nearer part of it.
  const bool not_read = were_read == 0 || (!steady && some_was_not_read(probe));
  if (probe.counted_less || not_read || (were_read < 0 && steady)) {
    probe.loss = Loss::Cut;
    if (!one_side(probe.gap)) {
      gap_by_reading(probe);
    }
    return;
  }
  probe.loss = steady ? Loss::Unused : Loss::Weak;
  if (all && prober.able && were_read != 0) {
    explain_garbage(prober, ladder, probe, seen);
  }
}

/// The same bytes again: an answer that changes is no loss.
void ask_again(Prober& prober, Ladder& ladder, Probe& probe, const Seen& seen) {
  const Seen again = prober.again(seen);
  note(probe, again);
  if (again.stripes.size() != seen.stripes.size() || !again.reply().answered()) {
    return;
  }
  ++ladder.asked_again;
  if (again.stripes != seen.stripes) {
    ++ladder.flips;
    const auto evidence = sids({seen, again});
    ladder.flip_evidence.insert(ladder.flip_evidence.end(), evidence.begin(), evidence.end());
  }
  for (size_t i = 0; i < probe.stripes.size(); ++i) {
    probe.stripes[i] = std::max(probe.stripes[i], again.stripes[i]);
  }
}

/// Another text of the same length, when a request failed or brought nothing.
std::optional<Seen> other_text(Prober& prober, Probe& probe, Outcome outcome) {
  for (int i = 0; i < kOtherTexts; ++i) {
    RollCall dials;
    dials.salt = prober.fresh_salt();
    const Seen seen = prober.ask(dials, probe.length, probe.api);
    note(probe, seen);
    if (seen.outcome == Outcome::Failed) {
      failed(probe, seen);
    }
    if (seen.outcome != outcome) {
      return seen;
    }
    if (probe.hung || outcome == Outcome::Empty) {
      break;  // waiting once more would cost as much again
    }
  }
  return std::nullopt;
}

/// The roll call, with the log-probabilities of its answer where the server has them: they are
/// compared when the same bytes are asked again.
Seen ask_with_logprobs(Prober& prober, int64_t length, Api api) {
  RollCall dials;
  dials.salt = prober.fresh_salt();
  Item item = prober.roll_call(dials, length, api);
  const bool short_answer = prober.answer_per_code > 0;
  item.ask.top_logprobs = short_answer ? std::min(kAlternatives, prober.most_logprobs) : 0;
  Seen seen = prober.ask(item);
  if (seen.reply().fault == Fault::Client && item.ask.top_logprobs > 0) {
    prober.most_logprobs = 0;
    item.ask.top_logprobs = 0;
    seen = prober.ask(std::move(item));
  }
  return seen;
}

}  // namespace

Probe probe(Prober& prober, Ladder& ladder, int64_t length, Api api) {
  Seen seen = ask_with_logprobs(prober, length, api);
  Probe probe = begin(seen, length, api);
  probe.says = seen.reply().fault_text;
  if (seen.outcome == Outcome::Failed) {
    failed(probe, seen);
  }
  // Of a model that cannot do the task at any length, an answer of blanks is one more weak answer.
  const bool empty = seen.outcome == Outcome::Empty && prober.able;
  if (seen.outcome == Outcome::Failed || empty) {
    const auto other = other_text(prober, probe, seen.outcome);
    if (!other) {
      probe.loss = seen.outcome == Outcome::Empty ? Loss::Empty : Loss::Failed;
      return probe;
    }
    seen = *other;
    probe.stripes = seen.stripes;
    probe.reported = seen.reported;
    probe.counted_less = seen.counted_less();
  }
  switch (seen.outcome) {
    case Outcome::Kept:
      probe.loss = Loss::None;
      if (seen.unnumbered && !prober.unnumbered) {
        explain_garbage(prober, ladder, probe, seen);
      }
      return probe;
    case Outcome::Refused:
      probe.loss = Loss::Refused;
      return probe;
    case Outcome::Rate:
      probe.loss = Loss::Rate;
      return probe;
    case Outcome::Empty:
      if (prober.able) {
        probe.loss = Loss::Empty;
        return probe;
      }
      seen.stripes.assign(seen.stripes.size(), 0);
      probe.stripes = seen.stripes;
      break;
    case Outcome::Failed:
      probe.loss = Loss::Failed;
      return probe;
    default:
      break;
  }
  if (prober.able && !probe.counted_less) {
    ask_again(prober, ladder, probe, seen);
  }
  if (gap_of(probe.stripes).shape == Shape::Whole) {
    return probe;
  }
  explain_missing(prober, ladder, probe, seen);
  return probe;
}

}  // namespace gyre::accept
