// What learning frequencies costs (L46): training steps of two arms timed in turn in one process,
// so that load, clock and heat hit both alike. Also a short probe for the time a study will take.
#pragma once

#include "gyre/data/dataset.h"
#include "gyre/model/config.h"
#include "gyre/position/plan.h"
#include "gyre/study/statistics.h"
#include "gyre/train/train_options.h"

namespace gyre::study {

/// One side of a timing: a model by shape and positions.
struct TimedArm {
  model::ModelConfig model;
  position::PositionPlan plan;
  at::Device device = at::kCPU;
};

struct StepRatio {
  double ratio = kUnknown;  // median over pairs of time(b) / time(a)
  Interval ci95;            // bootstrap of that median
  int64_t n_pairs = 0;
};

/// Times steps A B, B A, A B, ... on the same batches until `seconds` have passed (at least 5
/// pairs, at most 200). Stops early after Ctrl-C.
StepRatio time_steps(const TimedArm& a, const TimedArm& b, const data::Dataset& dataset,
                     const train::TrainOptions& options, double seconds);

/// Peak memory of arm b's runs over arm a's, paired by seed: geometric mean of the ratios, t
/// interval of their logarithm (with few seeds the spread is pooled over all arms).
///
/// cells    ln(peak memory) of every run, arms x seeds
/// returns  ratio NaN without a common seed; interval unknown with one
struct MemoryRatio {
  double ratio = kUnknown;
  Interval ci95;
  int64_t n_seeds = 0;
};
MemoryRatio memory_ratio(const std::vector<TableCell>& cells, int64_t a, int64_t b);

/// Seconds that a training token takes with the current thread count, from a few short steps.
double seconds_per_token(const TimedArm& arm, const data::Dataset& dataset,
                         const train::TrainOptions& options);

}  // namespace gyre::study
