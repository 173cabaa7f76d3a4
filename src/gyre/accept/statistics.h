// Statistics of acceptance as pure functions: bounds, sequential looks, exact paired tests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::accept {

/// One-sided Wilson bounds of a proportion at level alpha; {0, 1} for n = 0.
double wilson_lower(int64_t correct, int64_t n, double alpha);
double wilson_upper(int64_t correct, int64_t n, double alpha);

enum class Status { Pass, Fail, Undecided, NotRun };
const char* name_of(Status status);  // "PASS", ...

struct LookPlan {
  std::vector<int64_t> looks{16, 48, 128};  // items per bucket
  int64_t buckets = 5;
  double alpha = 0.05;  // of the whole family: alpha / (buckets * looks) per bound

  double per_bound() const;
};

struct BucketCount {
  int64_t n = 0, correct = 0;
};

struct Decision {
  Status status = Status::Undecided;
  int64_t worst = -1;       // bucket with the smallest lower bound
  int64_t needs_about = 0;  // more items per bucket until a bound could decide; 0 when decided,
                            // kNeedsMost when the rates stand on the threshold
  std::vector<double> lower, upper;  // per bucket
};

inline constexpr int64_t kNeedsMost = 1'000'000;

/// PASS if every lower bound >= threshold, FAIL if any upper bound < threshold, else undecided.
Decision decide(const std::vector<BucketCount>& buckets, double threshold, const LookPlan& plan);

/// Design effect of items in clusters (those of one filler seed): the variance of the mean under a
/// bootstrap of whole clusters over that of independent items. 1 = sharing does no harm; NaN when
/// there is nothing to tell from (one cluster, or all items alike).
double design_effect(const std::vector<BucketCount>& clusters, uint64_t seed);

/// Interval of a difference of paired proportions, (c - b) / n, by Tango's score test (Statistics
/// in Medicine 1998): b items were right before only, c after only, of n pairs. It has a width even
/// when nothing changed.
struct PairedDifference {
  double value = 0.0, lo = -1.0, hi = 1.0;
};
PairedDifference paired_difference(int64_t b, int64_t c, int64_t n, double alpha_one_sided);

/// Two-sided exact McNemar test: b items were right before only, c after only.
double mcnemar_exact(int64_t b, int64_t c);

/// Matthews correlation of a two-class table; 0 when a margin is empty.
double matthews(int64_t tp, int64_t fp, int64_t fn, int64_t tn);

}  // namespace gyre::accept
