// The size of the window: from the server's words, from usage that stands still, else by halving
// the gap between the longest prompt that was kept and the shortest one that was not.
#include <algorithm>

#include "gyre/accept/level1/steps.h"

namespace gyre::accept {

namespace {

constexpr int kMostSteps = 12;

int64_t close_enough(int64_t tokens) {
  return std::max<int64_t>(48, tokens / 50);
}

/// Longer ones that were kept make it a band, not a window.
bool is_band(const Ladder& ladder, const Probe& lost) {
  return std::any_of(ladder.probes.begin(), ladder.probes.end(), [&](const Probe& probe) {
    return probe.api == lost.api && probe.whole() && probe.tokens > lost.tokens;
  });
}

/// Whether a prompt of that size comes back; two texts, as any one may be unlucky.
bool comes_back(Prober& prober, Ladder& ladder, int64_t length, Api api, Probe& made) {
  for (int i = 0; i < 2; ++i) {
    RollCall dials;
    dials.salt = prober.fresh_salt();
    const Seen seen = prober.ask(dials, length, api);
    made.length = length;
    made.api = api;
    made.tokens = seen.predicted;
    made.answer = seen.sample.item.ask.max_tokens;
    made.reported = seen.reported;
    made.stripes = seen.stripes;
    made.stripes_n = seen.stripes.size();
    made.counted_less = seen.counted_less();
    made.evidence.push_back(seen.sid());
    if (seen.reply().limit_tokens) {
      ladder.told = seen.reply().limit_tokens;
    }
    if (seen.outcome == Outcome::Kept) {
      return true;
    }
    if (seen.outcome != Outcome::Failed && seen.wrong() > 1) {
      place_gap(made, seen);
      return false;
    }
  }
  return false;
}

void halve(Prober& prober, Ladder& ladder, Probe kept, Probe lost) {
  for (int step = 0; step < kMostSteps; ++step) {
    if (lost.tokens - kept.tokens <= close_enough(kept.tokens)) {
      break;
    }
    Probe middle;
    middle.loss = lost.loss;
    const int64_t length = (kept.length + lost.length) / 2;
    if (length <= kept.length || length >= lost.length) {
      break;
    }
    if (comes_back(prober, ladder, length, kept.api, middle)) {
      middle.loss = Loss::None;
      kept = middle;
    } else {
      if (lost.loss != Loss::Cut && lost.loss != Loss::Unused) {
        middle.edge_lo = middle.edge_hi = 0;  // no side of it is lost, all of it is
      }
      lost = middle;
    }
    ladder.probes.push_back(middle);
  }
  ladder.window.fits = kept.tokens;
  ladder.window.fails = lost.tokens;
}

/// A cut that takes less than what stands before the first code (or after the last) is not seen, so
/// that halving ends that much too high.
void correct(Ladder& ladder, Loss loss) {
  Window& window = ladder.window;
  const Constant stay = constant_stay(ladder.probes);
  if (loss == Loss::Cut && stay.tokens) {
    window.after_overflow = stay.tokens;
  }
  if (loss != Loss::Cut || !stay.tokens || !window.fits) {
    return;
  }
  const int64_t unseen = std::max<int64_t>(Calibration::tolerance(*window.fits), *window.fits / 12);
  if (*stay.tokens > *window.fits + 64 || *stay.tokens < *window.fits - unseen) {
    return;
  }
  // What stays is what fits. Usage tells it to the token, the stripes by the place of the edge.
  window.fits = stay.by_usage ? *stay.tokens : std::max(*stay.tokens, *window.fits - unseen);
}

const char* source_of(const Probe& lost, bool by_usage) {
  return lost.loss == Loss::Cut && by_usage ? "usage"
         : lost.loss == Loss::Cut           ? "roll call"
         : lost.loss == Loss::Refused       ? "refusals"
                                            : "roll call";
}

void measure(Prober& prober, Ladder& ladder, Api api) {
  const Probe* shortest = ladder.shortest_lost(api);
  const Probe* longest = ladder.longest_kept(api);
  if (shortest == nullptr || is_band(ladder, *shortest)) {
    return;
  }
  const Probe lost = *shortest;  // halving adds to the ladder
  Window& window = ladder.window;
  window.fails = lost.tokens;
  if (longest != nullptr) {
    window.fits = longest->tokens;
  }
  if (lost.limit) {
    ladder.told = lost.limit;
  }
  if (lost.loss == Loss::Refused && ladder.told) {
    window.fits = *ladder.told;
    window.source = "error message";
    return;
  }
  if (longest != nullptr && prober.able && !lost.hung) {
    halve(prober, ladder, *longest, lost);
  }
  window.source = source_of(lost, constant_stay(ladder.probes).by_usage);
  correct(ladder, lost.loss);
}

}  // namespace

void measure_window(Prober& prober, Ladder& ladder) {
  for (const Probe& probe : ladder.probes) {
    if (probe.limit && probe.loss == Loss::Refused) {
      ladder.told = std::min(ladder.told.value_or(*probe.limit), *probe.limit);
    }
  }
  measure(prober, ladder, prober.main);
  if (!ladder.window.fails && prober.other) {
    measure(prober, ladder, *prober.other);
  }
}

}  // namespace gyre::accept
