// Wilson score interval of a proportion: keeps its coverage for small n and for 0 or n successes,
// which is what depth buckets with few items need.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace gyre::evaluate {

/// 95 % interval of a proportion with k successes in n trials; (0, 1) for n = 0.
/// source  Wilson 1927, JASA 22:209, eq. for the score interval
inline std::pair<double, double> wilson95(int64_t k, int64_t n) {
  if (n <= 0) {
    return {0.0, 1.0};
  }
  constexpr double z = 1.959963984540054;  // 97.5 % point of the standard normal
  const auto trials = static_cast<double>(n);
  const double p = static_cast<double>(k) / trials;
  const double shrink = 1.0 + z * z / trials;
  const double centre = (p + z * z / (2.0 * trials)) / shrink;
  const double half =
      z / shrink * std::sqrt(p * (1.0 - p) / trials + z * z / (4.0 * trials * trials));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace gyre::evaluate
