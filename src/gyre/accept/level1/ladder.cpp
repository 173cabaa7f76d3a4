// The rungs: every length, a little less and a little more of it, through both endpoints. A length
// that fails is asked about only as much as its failure leaves open.
#include <algorithm>

#include "gyre/accept/level1/steps.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

// Off the grid, so that no block size divides them all.
constexpr int64_t kLess = 37, kMore = 13;

/// A prompt that counts more than it should, as it can where the line came from very short ones,
/// was surely not cut. As many codes as there, because codes take more tokens than filler.
bool counts_more(const Seen& small, const Seen& now) {
  return now.reply().answered() && *now.reported > now.predicted &&
         *now.reported >= 2 * *small.reported && now.stripes.size() == small.stripes.size();
}

/// Counts that agree at a longer prompt make the line through two short ones finer.
void refine(Prober& prober, const Probe& probe) {
  if (prober.all.empty() || prober.calibration.source != "usage" || !probe.reported) {
    return;
  }
  const Seen& small = prober.all.front();
  const Seen& now = prober.all.back();
  if (!now.reported || !small.reported || now.sample.item.ask.api != small.sample.item.ask.api) {
    return;
  }
  const bool kept = probe.whole() && now.outcome == Outcome::Kept && !now.counted_otherwise();
  if (!counts_more(small, now) && !(kept && *now.reported >= 4 * *small.reported)) {
    return;
  }
  const auto bytes = [](const Seen& seen) { return prompt_bytes(seen.sample.item.ask); };
  Calibration finer = fit_calibration(bytes(small), *small.reported, bytes(now), *now.reported);
  if (finer.source == "usage") {
    finer.evidence = prober.calibration.evidence;
    finer.evidence.push_back(now.sid());
    prober.calibration = finer;
    prober.bench.result.calibration = finer;
  }
}

/// One size around a planned length. An endpoint that does not answer a short prompt either is not
/// served: many services have but one.
void add(Prober& prober, Ladder& ladder, int64_t rung, int64_t length, Api api) {
  Probe made = probe(prober, ladder, length, api);
  const std::string why = prober.all.back().reply().fault_text;
  const bool failed = !prober.all.back().reply().answered() && api != prober.main;
  if (failed && !answers(prober, api)) {
    prober.leave(api, why);
    return;
  }
  made.rung = rung;
  ladder.probes.push_back(std::move(made));
}

void one_length(Prober& prober, Ladder& ladder, int64_t length) {
  Probe first = probe(prober, ladder, length, prober.main);
  first.planned = true;
  first.rung = length;
  refine(prober, first);
  const Loss loss = first.loss;
  ladder.probes.push_back(std::move(first));
  switch (loss) {
    case Loss::None:
      add(prober, ladder, length, length - kLess, prober.main);
      if (prober.able) {  // of a weak one it would say nothing new
        add(prober, ladder, length, length + kMore, prober.other.value_or(prober.main));
      }
      return;
    case Loss::Failed:
      prober.gone = !answers(prober, prober.main);
      return;
    case Loss::Refused:
    case Loss::Rate:
    case Loss::Empty:
    case Loss::Weak:
      return;
    default:
      break;
  }
  add(prober, ladder, length, length - kLess, prober.main);
  if (prober.other) {
    add(prober, ladder, length, length, *prober.other);
  }
}

}  // namespace

const Probe* Ladder::longest_kept(Api api) const {
  const Probe* best = nullptr;
  for (const Probe& probe : probes) {
    if (probe.api == api && probe.whole() && (best == nullptr || probe.tokens > best->tokens)) {
      best = &probe;
    }
  }
  return best;
}

const Probe* Ladder::shortest_lost(Api api) const {
  const Probe* kept = longest_kept(api);
  const Probe* best = nullptr;
  for (const Probe& probe : probes) {
    if (probe.api == api && !probe.whole() && probe.definite() &&
        (kept == nullptr || probe.tokens > kept->tokens) &&
        (best == nullptr || probe.tokens < best->tokens)) {
      best = &probe;
    }
  }
  return best;
}

void climb(Prober& prober, Ladder& ladder) {
  std::vector<int64_t> lengths = prober.options().lengths;
  std::sort(lengths.begin(), lengths.end());
  for (const int64_t length : lengths) {
    if (prober.gone) {
      return;
    }
    if (const std::string why = prober.no_room(length - kLess); !why.empty()) {
      ladder.no_room[length] = why;
      continue;
    }
    one_length(prober, ladder, length);
  }
}

}  // namespace gyre::accept
