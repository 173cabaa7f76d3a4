#include "gyre/analyze/estimate.h"

#include <cmath>
#include <numeric>

#include "gyre/base/distributions.h"

namespace gyre::analyze {

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

Estimate estimate(const std::vector<double>& values) {
  Estimate out;
  out.n = static_cast<int64_t>(values.size());
  if (values.empty()) {
    return out;
  }
  out.mean = mean_of(values);
  if (out.n < 2) {
    return out;
  }
  double squares = 0.0;
  for (const double value : values) {
    squares += (value - out.mean) * (value - out.mean);
  }
  const auto n = static_cast<double>(out.n);
  const double half = t_quantile(0.975, n - 1.0) * std::sqrt(squares / (n - 1.0) / n);
  out.lo = out.mean - half;
  out.hi = out.mean + half;
  return out;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double aa = 0.0, bb = 0.0, ab = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
    ab += (a[i] - mean_a) * (b[i] - mean_b);
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace gyre::analyze
