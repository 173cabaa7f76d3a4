// Watches the loss: stops a run whose loss is not finite or has jumped.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>

namespace gyre::train {

/// An exponential mean of the loss and a limit above it. Empty text = all is well.
class LossGuard {
 public:
  explicit LossGuard(double limit) : limit_(limit) {}
  /// What is wrong with this loss, or "". A good loss enters the mean.
  std::string notice(double loss) {
    if (!std::isfinite(loss)) {
      return "the loss is not finite";
    }
    if (limit_ > 0.0 && count_ >= kSettled && loss > mean_ + limit_) {
      return "the loss jumped above its running mean by more than --spike";
    }
    // A plain mean first, then an exponential one over about 50 steps.
    const double share = 1.0 / static_cast<double>(std::min<int64_t>(count_ + 1, kMemory));
    mean_ += share * (loss - mean_);
    ++count_;
    return "";
  }
  double mean() const { return mean_; }
  int64_t count() const { return count_; }
  void restore(double mean, int64_t count) {
    mean_ = mean;
    count_ = count;
  }

 private:
  static constexpr int64_t kSettled = 20, kMemory = 50;  // steps
  double limit_, mean_ = 0.0;
  int64_t count_ = 0;
};

}  // namespace gyre::train
