#include "gyre/accept/level1/influence.h"

#include <algorithm>
#include <optional>

#include "gyre/accept/text/filler.h"

namespace gyre::accept {

namespace {

constexpr double kNothing = 1e-9;          // nats
constexpr int64_t kWidths[] = {20, 5, 1};  // likeliest tokens to ask for; servers have limits

/// The request with the widest list that the server grants; empty when it has none.
std::optional<Seen> first_token(Prober& prober, const RollCall& dials, int64_t length, Api api) {
  for (const int64_t width : kWidths) {
    if (width > prober.most_logprobs) {
      continue;
    }
    Item item = prober.roll_call(dials, length, api);
    item.ask.max_tokens = 1;
    item.ask.top_logprobs = width;
    item.ask.cold = true;  // what comes out of a cache differs in its last bits
    item.task = "influence";
    item.form = AnswerForm::Probe;  // its log-probabilities count, not its words
    Seen seen = prober.ask(item);
    if (seen.reply().answered() && !seen.reply().top.empty()) {
      return seen;
    }
    const bool refused = seen.reply().fault == Fault::Client;
    prober.most_logprobs = refused ? width - 1 : 0;
  }
  return std::nullopt;
}

}  // namespace

Reading Influence::of(int64_t stripe) const {
  const auto found = moved.find(stripe);
  if (!known || found == moved.end()) {
    return Reading::Unknown;
  }
  if (found->second <= kNothing && noise <= kNothing) {
    return Reading::NotRead;
  }
  return found->second > 2 * noise ? Reading::Read : Reading::Unknown;
}

Influence influence(Prober& prober, int64_t length, Api api, const std::vector<int64_t>& stripes) {
  Influence result;
  RollCall dials;
  dials.stripes = prober.stripes_at(length);
  dials.salt = prober.fresh_salt();
  const auto base = first_token(prober, dials, length, api);
  if (!base) {
    return result;
  }
  const Seen repeat = prober.again(*base);
  result.evidence = sids({*base, repeat});
  const auto noise = difference(base->reply(), repeat.reply());
  if (!noise) {
    return result;
  }
  result.noise = *noise;
  if (*noise > kNothing) {  // one pair says little about how far apart equal requests can be
    const Seen third = prober.again(*base);
    result.evidence.push_back(third.sid());
    for (const Seen* other : {&*base, &repeat}) {
      result.noise =
          std::max(result.noise, difference(other->reply(), third.reply()).value_or(0.0));
    }
  }
  for (const int64_t stripe : stripes) {
    dials.changed = stripe;
    std::optional<Seen> other;
    try {
      other = first_token(prober, dials, length, api);
    } catch (const NoRoom&) {  // no sentence there to be replaced: nothing is known of that part
    }
    const auto moved = other ? difference(base->reply(), other->reply()) : std::nullopt;
    if (moved) {
      result.moved[stripe] = *moved;
      result.evidence.push_back(other->sid());
    }
  }
  // A list that never moves says nothing of the parts.
  for (const auto& [stripe, moved] : result.moved) {
    result.known = result.known || moved > kNothing;
  }
  return result;
}

}  // namespace gyre::accept
