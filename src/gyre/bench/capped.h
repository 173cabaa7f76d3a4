// Names of attention cases, and which of them would take too long or too much memory to be run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gyre/bench/bench.h"
#include "gyre/bench/our_attention.h"

namespace gyre::bench {

/// Every case of the shape: head dims, then kinds, then rising lengths.
std::vector<AttentionCase> cases_of(const AttentionShape& shape);

std::string case_words(const AttentionCase& each);  // "window:512 8192 64", as servers take it
std::string case_title(const AttentionCase& each);  // "window:512, T 8192, D 64"
std::string series_of(const AttentionCase& each);   // "window:512, D 64"

/// Medians of the lengths of one series, in rising order.
class StepTimes {
 public:
  void add(const AttentionCase& each, const std::vector<double>& ms);
  /// "" when a step is expected within the limit. The expectation grows with the square of the
  /// length from the last one measured, or as fast as the last two did when that is slower.
  std::string over(const AttentionCase& each, double limit_s) const;

 private:
  struct Point {
    double length = 0.0, ms = 0.0;
  };
  std::map<std::string, std::vector<Point>> series_;
};

/// "" when PyTorch's step is expected to fit. Masks and biases make it quadratic in the length:
/// the constants were measured (docs/benchmarks.md).
std::string over_memory(const AttentionCase& each, const Limits& limits);
double expected_peer_gib(const AttentionCase& each);

/// Peak memory of this case, each side in a process of its own. A side with a reason not to run is
/// left out, and the row's note says why.
Row attention_memory_row(const AttentionCase& each, const Contest& contest,
                         const std::string& why_not_ours, const std::string& why_not_peer);

/// "ours left out: ...; peer left out: ..." from the reasons that are not empty.
std::string left_out(const std::string& why_not_ours, const std::string& why_not_peer);

}  // namespace gyre::bench
