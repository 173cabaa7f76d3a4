#include "gyre/accept/level1/probe.h"

#include <algorithm>
#include <cmath>

namespace gyre::accept {

namespace {

/// Three prompts of other sizes that are cut to counts this close are cut to one count.
constexpr int64_t kSameCount = 8;

}  // namespace

void place_gap(Probe& probe, const Seen& seen) {
  probe.gap = gap_of(probe.stripes);
  const auto& places = seen.sample.item.evidence;
  if (places.size() != probe.stripes.size() || probe.gap.first > probe.gap.last) {
    return;
  }
  const auto last = size_t(probe.gap.last), first = size_t(probe.gap.first);
  if (probe.gap.shape == Shape::Head) {
    probe.edge_lo = last + 1 < places.size() ? places[last + 1].from_end : 0;
    probe.edge_hi = places[last].from_end;
  } else {
    probe.edge_lo = first > 0 ? places[first - 1].from_start : 0;
    probe.edge_hi = places[first].from_start;
  }
}

std::optional<Stay> stay_of(const Probe& probe) {
  if (probe.loss != Loss::Cut || probe.edge_hi <= 0) {
    return std::nullopt;
  }
  if (probe.gap.shape == Shape::Head || probe.gap.shape == Shape::Tail) {
    // The checkpoint that came back reaches a little further than its beginning.
    return Stay{std::max<int64_t>(0, probe.edge_lo - 16), probe.edge_hi + 64};
  }
  return std::nullopt;
}

Constant constant_stay(const std::vector<Probe>& probes) {
  std::vector<int64_t> counts;
  std::optional<Stay> common;
  bool agree = true;
  size_t n = 0;
  for (const Probe& probe : probes) {
    if (probe.loss != Loss::Cut) {
      continue;
    }
    if (probe.counted_less) {
      counts.push_back(*probe.reported);
    }
    if (const auto stay = stay_of(probe)) {
      ++n;
      common = common
                   ? Stay{std::max(common->least, stay->least), std::min(common->most, stay->most)}
                   : *stay;
      agree = agree && common->least <= common->most;
    }
  }
  if (!counts.empty()) {
    const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
    return {*high - *low <= kSameCount ? std::optional(*high) : std::nullopt, true};
  }
  if (n >= 2 && agree) {
    return {(common->least + common->most) / 2, false};
  }
  return {};
}

}  // namespace gyre::accept
