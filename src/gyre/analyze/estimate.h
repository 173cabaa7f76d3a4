// A mean over texts, rows or items with its interval.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace gyre::analyze {

struct Estimate {
  double mean = std::numeric_limits<double>::quiet_NaN();
  double lo = std::numeric_limits<double>::quiet_NaN();  // 95 % interval; NaN below two values
  double hi = std::numeric_limits<double>::quiet_NaN();
  int64_t n = 0;
  bool above(double value) const { return lo > value; }
  bool below(double value) const { return hi < value; }
};

/// Student's t interval of the mean; values are taken as independent.
Estimate estimate(const std::vector<double>& values);

double mean_of(const std::vector<double>& values);

/// Pearson's correlation; NaN when either side does not vary.
double correlation(const std::vector<double>& a, const std::vector<double>& b);

}  // namespace gyre::analyze
