// One prompt over the window, where a window is claimed near the lengths and all of them fit: is it
// refused, as it should be?
#include <algorithm>

#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr double kOver = 1.2, kNear = 2.0;

}  // namespace

void test_overflow(Prober& prober, Ladder& ladder) {
  const Probe* kept = ladder.longest_kept(prober.main);
  if (kept == nullptr || ladder.shortest_lost(prober.main) != nullptr) {
    return;
  }
  std::optional<int64_t> window;
  for (const Claim& claim : prober.bench.result.facts.claims) {
    window = std::max(window.value_or(0), claim.tokens);
  }
  if (!window || double(*window) > kNear * double(kept->length)) {
    return;
  }
  RollCall dials;
  dials.salt = prober.fresh_salt();
  const auto length = int64_t(kOver * double(*window)) + 256;
  const Seen seen = prober.ask(dials, length, prober.main);
  if (seen.outcome == Outcome::Refused || seen.outcome == Outcome::Kept ||
      seen.outcome == Outcome::Rate) {
    return;
  }
  if (!seen.reply().answered()) {
    prober.bench.find("OVERFLOW_5XX",
                      str("a prompt of ", seen.predicted, " tokens, over the claimed ", *window,
                          ", gets ", name_of(seen.reply().fault), ": ", seen.reply().fault_text),
                      sids({seen}));
    return;
  }
  if (prober.able || seen.outcome == Outcome::Empty || seen.counted_less()) {
    prober.bench.find(
        "OVERFLOW_200",
        str("a prompt of ", seen.predicted, " tokens, over the claimed ", *window,
            ", gets HTTP 200 ", seen.outcome == Outcome::Empty ? "and no text" : "and loses ",
            seen.outcome == Outcome::Empty ? "" : words(gap_of(seen.stripes), seen.stripes.size())),
        sids({seen}), {{"verdict", name_of(seen.sample.verdict)}});
  }
}

}  // namespace gyre::accept
