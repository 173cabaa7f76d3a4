#include "gyre/study/overhead.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "gyre/base/progress.h"
#include "gyre/train/machine.h"
#include "gyre/train/optimizer.h"
#include "gyre/train/train_step.h"

namespace gyre::study {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// A model and its optimizer, stepped on given batches.
class Stepper {
 public:
  Stepper(const TimedArm& arm, const train::TrainOptions& options)
      : model_(arm.model, arm.plan, arm.device),
        optimizer_(model_, options),
        device_(arm.device),
        parts_(options.accumulate) {
    model_.init(1);
    if (options.dtype == train::ComputeDtype::Bf16) {
      model_.set_compute_dtype(at::kBFloat16);
    }
  }
  double step(const data::Batch& batch) {
    const auto start = Clock::now();
    train::accumulate_gradient(model_, batch, parts_);
    optimizer_.step(0.1);
    train::wait_for(device_);
    return seconds_since(start);
  }

 private:
  model::Transformer model_;
  train::Optimizer optimizer_;
  at::Device device_;
  int64_t parts_;
};

data::Batches batches_of(const data::Dataset& dataset, const train::TrainOptions& options) {
  return {dataset.train, dataset.corpus_hash, 1, options.batch, options.length};
}

}  // namespace

StepRatio time_steps(const TimedArm& a, const TimedArm& b, const data::Dataset& dataset,
                     const train::TrainOptions& options, double seconds) {
  constexpr int64_t kFewest = 5, kMost = 200;
  Stepper step_a(a, options), step_b(b, options);
  const data::Batches batches = batches_of(dataset, options);
  step_a.step(batches.at(0));  // warm-up: allocations, thread start
  step_b.step(batches.at(0));
  const auto start = Clock::now();
  std::vector<double> ratios;
  for (int64_t i = 0; i < kMost && !interrupted(); ++i) {
    if (i >= kFewest && seconds_since(start) > seconds) {
      break;
    }
    const data::Batch batch = batches.at(i);
    double time_a = 0.0, time_b = 0.0;
    if (i % 2 == 0) {
      time_a = step_a.step(batch);
      time_b = step_b.step(batch);
    } else {
      time_b = step_b.step(batch);
      time_a = step_a.step(batch);
    }
    ratios.push_back(time_b / time_a);
  }
  StepRatio out;
  out.n_pairs = static_cast<int64_t>(ratios.size());
  out.ratio = median(ratios);
  out.ci95 = bootstrap(
      out.n_pairs,
      [&](std::span<const int64_t> drawn) {
        std::vector<double> values;
        for (const int64_t i : drawn) {
          values.push_back(ratios[static_cast<size_t>(i)]);
        }
        return median(std::move(values));
      },
      2000, 1);
  return out;
}

MemoryRatio memory_ratio(const std::vector<TableCell>& cells, int64_t a, int64_t b) {
  std::vector<double> logs;
  for (const TableCell& low : cells) {
    for (const TableCell& high : cells) {
      if (low.arm == a && high.arm == b && low.seed == high.seed) {
        logs.push_back(high.value - low.value);
      }
    }
  }
  const TTest test = paired_test(logs, two_way_residual(cells)).test;
  return {std::exp(test.mean),
          {std::exp(test.ci95.lo), std::exp(test.ci95.hi)},
          static_cast<int64_t>(logs.size())};
}

double seconds_per_token(const TimedArm& arm, const data::Dataset& dataset,
                         const train::TrainOptions& options) {
  // As many sequences as keep the probe of any model to a moment; a tiny model gets its whole
  // batch.
  constexpr double kFlops = 2e10;
  train::TrainOptions small = options;
  const double per_sequence =
      model::train_flops_per_token(arm.model, options.length) * static_cast<double>(options.length);
  small.batch = std::clamp(static_cast<int64_t>(kFlops / per_sequence), int64_t{1}, options.batch);
  small.accumulate = 1;
  Stepper stepper(arm, small);
  const data::Batches batches = batches_of(dataset, small);
  stepper.step(batches.at(0));
  const double seconds = std::min(stepper.step(batches.at(1)), stepper.step(batches.at(2)));
  return seconds / static_cast<double>(small.batch * small.length);
}

}  // namespace gyre::study
