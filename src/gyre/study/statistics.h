// Paired statistics as pure functions over vectors: t intervals, pooled spread, sign test,
// bootstrap, Holm's correction, sample size. What is not known (too few values) is NaN.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace gyre::study {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Interval {
  double lo = kUnknown;
  double hi = kUnknown;
  bool known() const { return lo == lo && hi == hi; }
  bool contains(double x) const { return lo <= x && x <= hi; }
};

double mean(std::span<const double> values);
/// Sample standard deviation (n - 1); NaN for fewer than two values.
double sample_sd(std::span<const double> values);
double median(std::vector<double> values);

struct TTest {
  double mean = kUnknown;
  double sd = kUnknown;  // of one value, not of the mean
  double df = 0;
  double p = kUnknown;  // two-sided, against a mean of zero
  Interval ci95;
};

/// One-sample t test against zero (a paired test when the values are differences).
TTest t_test(std::span<const double> values);

/// The same with a standard deviation of one value that was pooled elsewhere with `df` degrees of
/// freedom. sd 0 gives an interval of no width and p 1 or 0.
TTest t_test_with_sd(double mean, double sd, double df, int64_t n);

/// One value of an arms x seeds table; cells may be missing.
struct TableCell {
  int64_t arm = 0, seed = 0;
  double value = 0;
};

/// Spread of one value after arm and seed means are taken out (two-way layout without interaction,
/// the randomised-block analysis of variance). df = cells - arms - seeds + connected parts.
struct Residual {
  double mean_square = kUnknown;
  double df = 0;
};
Residual two_way_residual(const std::vector<TableCell>& cells);

/// From this many pairs on their own spread is used, below it one pooled over a whole table.
inline constexpr int64_t kOwnSpreadSeeds = 5;

/// t test of paired differences of two columns of a table whose residual is `pooled`.
struct PairedTest {
  TTest test;
  bool pooled = false;
};
PairedTest paired_test(std::span<const double> differences, const Residual& pooled);

/// Two-sided exact sign test; zeros are dropped. p = 1 without values.
double sign_test(std::span<const double> values);

/// Percentile bootstrap, 95 %: `statistic` is computed from lists of n indices drawn with
/// replacement. Same seed, same interval.
Interval bootstrap(int64_t n, const std::function<double(std::span<const int64_t>)>& statistic,
                   int64_t repeats, uint64_t seed);

/// Holm's step-down correction; NaNs stay NaN and do not count.
std::vector<double> holm(const std::vector<double>& p_values);

/// Fewest paired runs (at least 2) for 80 % power at 5 %, two-sided, if `effect` (difference over
/// its standard deviation) is the true one; nothing when it is 0, unknown or needs over a million.
std::optional<int64_t> runs_needed(double effect);

}  // namespace gyre::study
