// Learning rate over a run, as a share of its peak.
#pragma once

#include "gyre/train/train_options.h"

namespace gyre::train {

/// Share of the peak learning rate at update `step` (0-based) of n. Warm-up rises linearly over
/// `warmup * n` updates and reaches 1; then a half cosine down to `min_lr`, or, for wsd, constant
/// and linear down to `min_lr` over the last fifth.
double learning_rate_share(const TrainOptions& options, int64_t step, int64_t n);

}  // namespace gyre::train
