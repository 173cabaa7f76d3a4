// Ticks of the axes of the page's curves.
#include <algorithm>
#include <cmath>

#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

std::string tick_text(double value) {
  return whole(static_cast<int64_t>(std::llround(value)));
}

}  // namespace

void tick_at(Axis& axis, std::vector<double> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  if (values.empty()) {
    return;
  }
  // The largest is always named; others when they leave room for six or so in all.
  const double least = axis.log ? std::pow(values.back() / std::max(1.0, values.front()), 1.0 / 6)
                                : (values.back() - values.front()) / 10;
  std::vector<double> kept;
  for (auto it = values.rbegin(); it != values.rend(); ++it) {
    if (kept.empty() || (axis.log ? kept.back() / *it >= least : kept.back() - *it >= least)) {
      kept.push_back(*it);
    }
  }
  if (kept.size() > 1 && kept.back() != values.front()) {
    kept.back() = values.front();  // nor is the smallest left out
  }
  std::reverse(kept.begin(), kept.end());
  axis.ticks = kept;
  axis.tick_text.clear();
  std::transform(kept.begin(), kept.end(), std::back_inserter(axis.tick_text), tick_text);
}

void tick_round(Axis& axis, const std::vector<double>& values) {
  double lo = INFINITY, hi = 0.0;
  for (const double value : values) {
    lo = value > 0 ? std::min(lo, value) : lo;
    hi = std::max(hi, value);
  }
  if (!(hi >= lo)) {
    return;
  }
  const bool decades = hi / lo > 300;
  for (double step = std::pow(10.0, std::floor(std::log10(lo))); step <= hi; step *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double value = step * factor;
      if (value >= 0.9 * lo && value <= 1.1 * hi && (factor == 1.0 || !decades)) {
        axis.ticks.push_back(value);
        axis.tick_text.push_back(tick_text(value));
      }
    }
  }
}

void from_zero(Axis& axis, const std::vector<Trace>& traces) {
  double most = 0.0;
  for (const Trace& trace : traces) {
    for (const double y : trace.y) {
      most = std::isfinite(y) ? std::max(most, y) : most;
    }
  }
  if (most > 0) {
    axis.lo = 0.0;
    axis.hi = 1.1 * most;
  }
}

}  // namespace gyre::report
