#include "gyre/study/statistics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "gyre/base/rng.h"
#include "gyre/base/distributions.h"

namespace gyre::study {
namespace {

double quantile(const std::vector<double>& sorted, double q) {
  const double place = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], place - static_cast<double>(below));
}

// Number of connected parts of the graph whose nodes are arms and seeds and whose edges are cells.
size_t count_parts(const std::vector<TableCell>& cells) {
  std::map<std::pair<int, int64_t>, std::pair<int, int64_t>> parent;
  const auto root = [&](std::pair<int, int64_t> node) {
    while (parent.at(node) != node) {
      node = parent.at(node);
    }
    return node;
  };
  for (const TableCell& cell : cells) {
    const std::pair<int, int64_t> arm{0, cell.arm}, seed{1, cell.seed};
    parent.try_emplace(arm, arm);
    parent.try_emplace(seed, seed);
    parent[root(arm)] = root(seed);
  }
  return static_cast<size_t>(std::count_if(
      parent.begin(), parent.end(), [](const auto& entry) { return entry.first == entry.second; }));
}

// Subtracts the mean of each group; returns the largest mean that was taken off.
double sweep(std::vector<TableCell>& cells, int64_t TableCell::*group) {
  std::map<int64_t, std::pair<double, double>> sums;
  for (const TableCell& cell : cells) {
    sums[cell.*group].first += cell.value;
    sums[cell.*group].second += 1.0;
  }
  double largest = 0.0;
  for (TableCell& cell : cells) {
    const auto& [sum, n] = sums.at(cell.*group);
    cell.value -= sum / n;
    largest = std::max(largest, std::abs(sum / n));
  }
  return largest;
}

}  // namespace

double mean(std::span<const double> values) {
  return values.empty() ? kUnknown
                        : std::accumulate(values.begin(), values.end(), 0.0) /
                              static_cast<double>(values.size());
}

double sample_sd(std::span<const double> values) {
  if (values.size() < 2) {
    return kUnknown;
  }
  const double center = mean(values);
  double sum = 0.0;
  for (const double value : values) {
    sum += (value - center) * (value - center);
  }
  return std::sqrt(sum / static_cast<double>(values.size() - 1));
}

double median(std::vector<double> values) {
  if (values.empty()) {
    return kUnknown;
  }
  std::sort(values.begin(), values.end());
  return quantile(values, 0.5);
}

TTest t_test(std::span<const double> values) {
  const auto n = static_cast<int64_t>(values.size());
  return t_test_with_sd(mean(values), sample_sd(values), static_cast<double>(n - 1), n);
}

TTest t_test_with_sd(double center, double sd, double df, int64_t n) {
  TTest out;
  out.mean = center;
  out.sd = sd;
  out.df = df;
  if (!(df >= 1.0) || n < 1 || !std::isfinite(sd)) {
    return out;
  }
  const double error = sd / std::sqrt(static_cast<double>(n));
  const double half = t_quantile(0.975, df) * error;
  out.ci95 = {center - half, center + half};
  out.p = error > 0.0 ? t_two_sided(center / error, df) : center == 0.0 ? 1.0 : 0.0;
  return out;
}

Residual two_way_residual(const std::vector<TableCell>& table) {
  std::vector<TableCell> cells = table;
  std::map<int64_t, int> arms, seeds;
  double scale = 0.0;
  for (const TableCell& cell : cells) {
    ++arms[cell.arm];
    ++seeds[cell.seed];
    scale = std::max(scale, std::abs(cell.value));
  }
  Residual out;
  out.df = static_cast<double>(cells.size() + count_parts(cells)) -
           static_cast<double>(arms.size() + seeds.size());
  if (out.df < 1.0) {
    return out;
  }
  // One pass is exact for a full table; with missing cells the passes converge to least squares.
  for (int pass = 0; pass < 1000; ++pass) {
    const double moved = std::max(sweep(cells, &TableCell::arm), sweep(cells, &TableCell::seed));
    if (pass > 0 && moved <= 1e-15 * scale) {
      break;
    }
  }
  double sum = 0.0;
  for (const TableCell& cell : cells) {
    sum += cell.value * cell.value;
  }
  out.mean_square = sum / out.df;
  return out;
}

PairedTest paired_test(std::span<const double> differences, const Residual& pooled) {
  const TTest own = t_test(differences);
  const auto n = static_cast<int64_t>(differences.size());
  if (n < 2 || n >= kOwnSpreadSeeds || !(pooled.df > own.df)) {
    return {own, false};
  }
  // A difference of two cells has twice the variance of one.
  return {t_test_with_sd(own.mean, std::sqrt(2.0 * pooled.mean_square), pooled.df, n), true};
}

double sign_test(std::span<const double> values) {
  const auto below = std::count_if(values.begin(), values.end(), [](double x) { return x < 0; });
  const auto above = std::count_if(values.begin(), values.end(), [](double x) { return x > 0; });
  return std::min(1.0, 2.0 * fair_coin_cdf(std::min(below, above), below + above));
}

Interval bootstrap(int64_t n, const std::function<double(std::span<const int64_t>)>& statistic,
                   int64_t repeats, uint64_t seed) {
  if (n < 2) {
    return {};
  }
  Rng rng(seed, "bootstrap");
  std::vector<int64_t> drawn(static_cast<size_t>(n));
  std::vector<double> values;
  for (int64_t i = 0; i < repeats; ++i) {
    for (int64_t& index : drawn) {
      index = static_cast<int64_t>(rng.below(static_cast<uint64_t>(n)));
    }
    if (const double value = statistic(drawn); !std::isnan(value)) {
      values.push_back(value);
    }
  }
  if (values.empty()) {
    return {};
  }
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.025), quantile(values, 0.975)};
}

std::vector<double> holm(const std::vector<double>& p_values) {
  std::vector<size_t> order;
  for (size_t i = 0; i < p_values.size(); ++i) {
    if (!std::isnan(p_values[i])) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return p_values[a] < p_values[b]; });
  std::vector<double> out(p_values.size(), kUnknown);
  double largest = 0.0;
  for (size_t rank = 0; rank < order.size(); ++rank) {
    const auto factor = static_cast<double>(order.size() - rank);
    largest = std::max(largest, std::min(1.0, factor * p_values[order[rank]]));
    out[order[rank]] = largest;
  }
  return out;
}

std::optional<int64_t> runs_needed(double effect) {
  constexpr int64_t kLimit = 1'000'000;
  const auto enough = [&](int64_t n) { return paired_t_power(effect, n, 0.05) >= 0.8; };
  if (!(std::abs(effect) > 0.0) || std::isinf(effect)) {
    return std::isinf(effect) ? std::optional<int64_t>(2) : std::nullopt;
  }
  int64_t high = 2;
  while (high < kLimit && !enough(high)) {
    high *= 2;
  }
  if (high >= kLimit) {
    return std::nullopt;
  }
  int64_t low = std::max<int64_t>(2, high / 2);
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (enough(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return high;
}

}  // namespace gyre::study
