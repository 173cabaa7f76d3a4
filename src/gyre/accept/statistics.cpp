#include "gyre/accept/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "gyre/base/distributions.h"
#include "gyre/study/statistics.h"

namespace gyre::accept {
namespace {

/// z with P(Z > z) = alpha, by halving; exact to the last bits, a few microseconds.
double upper_z(double alpha) {
  double low = -40.0, high = 40.0;
  for (int step = 0; step < 100; ++step) {
    const double middle = 0.5 * (low + high);
    // The small tail, so that no digits are lost to 1 - p.
    (normal_cdf(-middle) > alpha ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

// The two roots of the score test (p - rate)^2 = z^2 p (1 - p) / n. Wilson 1927.
double wilson(double correct, double n, double z, int sign) {
  if (n <= 0.0) {
    return sign < 0 ? 0.0 : 1.0;
  }
  const double rate = correct / n, z2 = z * z;
  const double half = z * std::sqrt(rate * (1.0 - rate) / n + z2 / (4.0 * n * n));
  const double bound = (rate + z2 / (2.0 * n) + sign * half) / (1.0 + z2 / n);
  return std::clamp(bound, 0.0, 1.0);
}

struct Rates {
  std::vector<double> n, correct;
};

Status status_of(const Rates& rates, double threshold, double z) {
  bool pass = !rates.n.empty();
  for (size_t i = 0; i < rates.n.size(); ++i) {
    if (wilson(rates.correct[i], rates.n[i], z, +1) < threshold) {
      return Status::Fail;
    }
    pass = pass && wilson(rates.correct[i], rates.n[i], z, -1) >= threshold;
  }
  return pass ? Status::Pass : Status::Undecided;
}

/// The least number of further items per bucket at which the rates seen so far would decide. An
/// empty bucket is taken to be perfect. Steps grow by a fiftieth: "about" needs no more.
int64_t more_items(const std::vector<BucketCount>& buckets, double threshold, double z) {
  for (int64_t more = 1; more < kNeedsMost; more += std::max<int64_t>(1, more / 50)) {
    Rates rates;
    for (const BucketCount& bucket : buckets) {
      const auto n = static_cast<double>(bucket.n);
      const double rate = bucket.n > 0 ? static_cast<double>(bucket.correct) / n : 1.0;
      rates.n.push_back(n + static_cast<double>(more));
      rates.correct.push_back(rate * rates.n.back());
    }
    if (status_of(rates, threshold, z) != Status::Undecided) {
      return more;
    }
  }
  return kNeedsMost;
}

}  // namespace

const char* name_of(Status status) {
  switch (status) {
    case Status::Pass:
      return "PASS";
    case Status::Fail:
      return "FAIL";
    case Status::Undecided:
      return "UNDECIDED";
    case Status::NotRun:
      break;
  }
  return "NOT RUN";
}

double wilson_lower(int64_t correct, int64_t n, double alpha) {
  return wilson(static_cast<double>(correct), static_cast<double>(n), upper_z(alpha), -1);
}

double wilson_upper(int64_t correct, int64_t n, double alpha) {
  return wilson(static_cast<double>(correct), static_cast<double>(n), upper_z(alpha), +1);
}

double LookPlan::per_bound() const {
  return alpha / static_cast<double>(std::max<int64_t>(1, buckets) *
                                     std::max<int64_t>(1, static_cast<int64_t>(looks.size())));
}

Decision decide(const std::vector<BucketCount>& buckets, double threshold, const LookPlan& plan) {
  Decision out;
  const double z = upper_z(plan.per_bound());
  Rates rates;
  for (const BucketCount& bucket : buckets) {
    rates.n.push_back(static_cast<double>(bucket.n));
    rates.correct.push_back(static_cast<double>(bucket.correct));
    out.lower.push_back(wilson(rates.correct.back(), rates.n.back(), z, -1));
    out.upper.push_back(wilson(rates.correct.back(), rates.n.back(), z, +1));
  }
  if (!out.lower.empty()) {
    out.worst = std::min_element(out.lower.begin(), out.lower.end()) - out.lower.begin();
  }
  out.status = status_of(rates, threshold, z);
  if (out.status == Status::Undecided && !buckets.empty()) {
    out.needs_about = more_items(buckets, threshold, z);
  }
  return out;
}

double design_effect(const std::vector<BucketCount>& clusters, uint64_t seed) {
  constexpr int64_t kRepeats = 400;
  int64_t n = 0, correct = 0;
  for (const BucketCount& cluster : clusters) {
    n += cluster.n;
    correct += cluster.correct;
  }
  if (clusters.size() < 2 || correct == 0 || correct == n) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  std::vector<double> means;
  study::bootstrap(
      static_cast<int64_t>(clusters.size()),
      [&](std::span<const int64_t> drawn) {
        BucketCount sum;
        for (const int64_t i : drawn) {
          sum.n += clusters[static_cast<size_t>(i)].n;
          sum.correct += clusters[static_cast<size_t>(i)].correct;
        }
        if (sum.n > 0) {
          means.push_back(static_cast<double>(sum.correct) / static_cast<double>(sum.n));
        }
        return means.empty() ? 0.0 : means.back();
      },
      kRepeats, seed);
  const double spread = study::sample_sd(means);
  const double rate = static_cast<double>(correct) / static_cast<double>(n);
  // A bootstrap of m clusters has (m - 1) / m of the variance.
  const double m = static_cast<double>(clusters.size());
  return spread * spread * m / (m - 1.0) * static_cast<double>(n) / (rate * (1.0 - rate));
}

PairedDifference paired_difference(int64_t b, int64_t c, int64_t n, double alpha_one_sided) {
  PairedDifference out;
  if (n <= 0) {
    return out;
  }
  const double z = upper_z(alpha_one_sided);
  const auto lost = static_cast<double>(b), won = static_cast<double>(c);
  const auto pairs = static_cast<double>(n);
  out.value = (won - lost) / pairs;
  // Score statistic of H0: P(won) - P(lost) = delta; it falls as delta grows.
  const auto score = [&](double delta) {
    const double quadratic = 2.0 * pairs;
    const double linear = -won - lost + (2.0 * pairs - won + lost) * delta;
    const double constant = -lost * delta * (1.0 - delta);
    const double root = std::sqrt(std::max(0.0, linear * linear - 4.0 * quadratic * constant));
    const double p_lost = (root - linear) / (2.0 * quadratic);
    const double variance = pairs * (2.0 * p_lost + delta * (1.0 - delta));
    const double shift = won - lost - pairs * delta;
    return shift == 0.0 ? 0.0 : shift / std::sqrt(std::max(variance, 1e-300));
  };
  const auto root_of = [&](double target, double low, double high) {
    for (int step = 0; step < 100; ++step) {
      const double middle = 0.5 * (low + high);
      (score(middle) > target ? low : high) = middle;
    }
    return 0.5 * (low + high);
  };
  out.lo = root_of(z, -1.0, out.value);
  out.hi = root_of(-z, out.value, 1.0);
  return out;
}

double mcnemar_exact(int64_t b, int64_t c) {
  return b + c > 0 ? std::min(1.0, 2.0 * fair_coin_cdf(std::min(b, c), b + c)) : 1.0;
}

double matthews(int64_t tp, int64_t fp, int64_t fn, int64_t tn) {
  const auto d = [](int64_t x) { return static_cast<double>(x); };
  const double margins = d(tp + fp) * d(tp + fn) * d(tn + fp) * d(tn + fn);
  return margins > 0.0 ? (d(tp) * d(tn) - d(fp) * d(fn)) / std::sqrt(margins) : 0.0;
}

}  // namespace gyre::accept
