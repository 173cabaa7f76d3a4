#include "gyre/base/distributions.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace gyre {
namespace {

// Continued fraction of the incomplete beta function (Abramowitz and Stegun 26.5.8), by Lentz's
// method; converges fast for x < (a + 1) / (a + b + 2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0;
  double d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
  double value = d;
  for (int m = 1; m <= 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1.0 / away_from_zero(1.0 + even * d);
    c = away_from_zero(1.0 + even / c);
    value *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1.0 / away_from_zero(1.0 + odd * d);
    c = away_from_zero(1.0 + odd / c);
    value *= d * c;
    if (std::abs(d * c - 1.0) < 1e-15) {
      break;
    }
  }
  return value;
}

// Density of s = sqrt(chi squared / df), the ratio of sample to true standard deviation.
double spread_density(double s, double df) {
  if (s <= 0.0) {
    return df > 1.0 ? 0.0 : std::sqrt(2.0 / std::numbers::pi);
  }
  const double half = 0.5 * df;
  return 2.0 * std::exp(half * std::log(half) - std::lgamma(half) + (df - 1.0) * std::log(s) -
                        half * s * s);
}

}  // namespace

double normal_cdf(double z) {
  return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0 || x >= 1.0) {
    return x <= 0.0 ? 0.0 : 1.0;
  }
  const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  return x < (a + 1.0) / (a + b + 2.0) ? front * beta_fraction(a, b, x) / a
                                       : 1.0 - front * beta_fraction(b, a, 1.0 - x) / b;
}

double t_two_sided(double t, double df) {
  return std::isinf(t) ? 0.0 : incomplete_beta(0.5 * df, 0.5, df / (df + t * t));
}

double t_quantile(double p, double df) {
  if (p == 0.5) {
    return 0.0;
  }
  const double tail = 2.0 * std::min(p, 1.0 - p);  // P(|T| >= t) that is looked for
  double low = 0.0, high = 1.0;
  while (t_two_sided(high, df) > tail && high < 1e300) {
    high *= 2.0;
  }
  for (int i = 0; i < 200 && high - low > 1e-15 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (t_two_sided(middle, df) > tail ? low : high) = middle;
  }
  return p < 0.5 ? -high : high;
}

double paired_t_power(double effect, int64_t n, double alpha) {
  const auto df = static_cast<double>(n - 1);
  const double critical = t_quantile(1.0 - 0.5 * alpha, df);
  const double shift = std::abs(effect) * std::sqrt(static_cast<double>(n));
  const auto integrand = [&](double s) {
    return (normal_cdf(shift - critical * s) + normal_cdf(-shift - critical * s)) *
           spread_density(s, df);
  };
  const double reach = 12.0 / std::sqrt(2.0 * df);  // twelve standard deviations of s
  const double begin = std::max(0.0, 1.0 - reach);
  constexpr int kIntervals = 800;
  const double step = (1.0 + reach - begin) / kIntervals;
  double sum = integrand(begin) + integrand(begin + kIntervals * step);
  for (int i = 1; i < kIntervals; ++i) {
    sum += (i % 2 == 1 ? 4.0 : 2.0) * integrand(begin + i * step);
  }
  return std::clamp(sum * step / 3.0, 0.0, 1.0);
}

double fair_coin_cdf(int64_t k, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i <= std::min(k, n); ++i) {
    const auto x = static_cast<double>(i), y = static_cast<double>(n);
    sum += std::exp(std::lgamma(y + 1) - std::lgamma(x + 1) - std::lgamma(y - x + 1) -
                    y * std::numbers::ln2);
  }
  return std::min(sum, 1.0);
}

}  // namespace gyre
