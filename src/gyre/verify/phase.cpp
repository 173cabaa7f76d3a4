#include "gyre/verify/phase.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace gyre::verify {
namespace {

double cos_at(double theta, int64_t delta) {
  return static_cast<double>(
      std::cos(static_cast<long double>(theta) * static_cast<long double>(delta)));
}

// One layer back: which tokens the reached ones may read. The residual path keeps a token itself.
std::vector<bool> step_back(const position::MaskSpec& mask, const std::vector<bool>& reached) {
  std::vector<bool> next = reached;
  const auto n = static_cast<int64_t>(reached.size());
  for (int64_t i = 0; i < n; ++i) {
    if (reached[static_cast<size_t>(i)]) {
      for (int64_t j = 0; j <= i; ++j) {
        next[static_cast<size_t>(j)] = next[static_cast<size_t>(j)] || mask.sees(i, j);
      }
    }
  }
  return next;
}

}  // namespace

std::vector<double> phase_curve(double theta, int64_t distance) {
  std::vector<double> out;
  for (int64_t delta = 0; delta <= distance; ++delta) {
    out.push_back(cos_at(theta, delta));
  }
  return out;
}

double turns(double theta, double length) {
  return length * theta / (2.0 * std::numbers::pi);
}

std::vector<int64_t> never_completed(const std::vector<double>& inv_freq, double length) {
  std::vector<int64_t> out;
  for (size_t m = 0; m < inv_freq.size(); ++m) {
    if (turns(inv_freq[m], length) < 1.0) {
      out.push_back(static_cast<int64_t>(m));
    }
  }
  return out;
}

int64_t first_recurrence(double theta, double threshold, int64_t limit) {
  bool left = false;
  for (int64_t delta = 1; delta <= limit; ++delta) {
    const bool near = cos_at(theta, delta) > threshold;
    if (near && left) {
      return delta;
    }
    left = left || !near;
  }
  return 0;
}

std::vector<Collision> collisions(const std::vector<double>& inv_freq, int64_t range, int64_t n) {
  std::vector<Collision> all;
  for (int64_t difference = 1; difference <= range; ++difference) {
    double sum = 0.0;
    for (const double theta : inv_freq) {
      const double half = std::sin(static_cast<double>(difference) * theta / 2.0);
      sum += 4.0 * half * half;
    }
    const double mean = inv_freq.empty() ? 0.0 : sum / static_cast<double>(inv_freq.size());
    all.push_back({difference, std::sqrt(mean)});
  }
  const auto keep = std::min<int64_t>(n, static_cast<int64_t>(all.size()));
  std::partial_sort(
      all.begin(), all.begin() + keep, all.end(), [](const Collision& a, const Collision& b) {
        return a.distance < b.distance || (a.distance == b.distance && a.difference < b.difference);
      });
  all.resize(static_cast<size_t>(keep));
  return all;
}

// Backwards from token i: with L layers the path runs through layer L first, so the answer for
// alternating masks depends on which layer is last. Each L is therefore walked from its own last
// layer.
std::vector<int64_t> layers_to_reach(const std::vector<position::MaskSpec>& masks, int64_t i,
                                     int64_t limit) {
  std::vector<int64_t> layers(static_cast<size_t>(i + 1), -1);
  layers.back() = 0;
  for (int64_t n = 1; n <= limit; ++n) {
    std::vector<bool> reached(static_cast<size_t>(i + 1), false);
    reached.back() = true;
    for (int64_t layer = n - 1; layer >= 0; --layer) {
      reached = step_back(masks[static_cast<size_t>(layer) % masks.size()], reached);
    }
    bool all = true;
    for (size_t j = 0; j < reached.size(); ++j) {
      layers[j] = layers[j] < 0 && reached[j] ? n : layers[j];
      all = all && layers[j] >= 0;
    }
    if (all) {
      break;
    }
  }
  return layers;
}

}  // namespace gyre::verify
