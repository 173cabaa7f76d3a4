// The same bytes twice, cold and warm: other codes mean that a cache gives back something else;
// other log-probabilities with the same codes are numerics.
#include <algorithm>

#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr double kVisible = 1e-4;  // nats; less is the rounding of what a server prints

const Seen* asked_as(const Prober& prober, const Probe& probe) {
  for (const Seen& seen : prober.all) {
    if (!probe.evidence.empty() && seen.sid() == probe.evidence.front()) {
      return &seen;
    }
  }
  return nullptr;
}

/// Wrong every time that it is warm, while other texts come back.
void warm_is_wrong(Prober& prober, Ladder& ladder, const Seen& cold, const Seen& warm) {
  const Seen third = prober.again(cold);
  ++ladder.asked_again;
  if (!third.reply().answered()) {
    return;
  }
  const bool flips = warm.near_miss || third.near_miss || third.outcome == Outcome::Kept;
  if (flips) {
    ++ladder.flips;
    const auto shown = sids({cold, warm, third});
    ladder.flip_evidence.insert(ladder.flip_evidence.end(), shown.begin(), shown.end());
    return;
  }
  prober.bench.find(
      "CACHE_DIVERGENCE",
      str("a prompt of ", cold.tokens(),
          " tokens came back whole the first time; the "
          "same bytes again lost ",
          warm.wrong(), " and ", third.wrong(), " of ", cold.stripes.size(), " codes"),
      sids({cold, warm, third}));
}

}  // namespace

void test_repeat(Prober& prober, Ladder& ladder) {
  const Probe* kept = ladder.longest_kept(prober.main);
  for (const Probe& probe : ladder.probes) {
    if (probe.planned && probe.whole() && probe.api == prober.main) {
      kept = &probe;
    }
  }
  const Seen* found = kept == nullptr ? nullptr : asked_as(prober, *kept);
  if (found == nullptr || found->outcome != Outcome::Kept) {
    return;
  }
  const Seen cold = *found;
  const Seen warm = prober.again(cold);
  if (!warm.reply().answered()) {
    return;
  }
  ++ladder.asked_again;
  if (warm.outcome != Outcome::Kept) {
    return warm_is_wrong(prober, ladder, cold, warm);
  }
  const auto moved = difference(cold.reply(), warm.reply());
  if (!moved || *moved <= kVisible) {
    return;
  }
  const Seen third = prober.again(cold);
  const auto later = difference(warm.reply(), third.reply());
  const bool settles = later && *later <= kVisible;
  prober.bench.find(
      "NONDETERMINISTIC",
      str("the same bytes gave the same codes, but log-probabilities that differ by up to ", *moved,
          " nats; ", settles ? "later answers agree" : "so does the third answer"),
      sids({cold, warm, third}), {{"nats", str(*moved)}, {"codes", "the same"}});
}

}  // namespace gyre::accept
