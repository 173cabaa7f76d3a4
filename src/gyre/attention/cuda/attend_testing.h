// Runs a layer through a backend on a device, and by the same plan in torch operations of the CPU.
#pragma once

#include <string>

#include "gyre/attention/cuda/backend.h"
#include "gyre/attention/fixtures.h"

namespace gyre::attention::cuda::testing {

struct Target {
  const Backend* backend;
  at::Device device;
};

/// Output and gradients of sum(output * weight), float64 on the CPU. theta undefined: no rotation.
struct Outcome {
  at::Tensor out, q, k, v, theta;
};

Outcome run(const Target& target, const attention::testing::Batch& batch,
            const position::LayerPlan& layer, position::PairLayout layout,
            const at::Tensor& first_key = {});
/// The same by the CPU rotation and dense attention in the batch's type.
Outcome run_composite(const attention::testing::Batch& batch, const position::LayerPlan& layer,
                      position::PairLayout layout);
/// The same by the reference, from the batch's values.
Outcome run_reference(const attention::testing::Batch& batch, const position::LayerPlan& layer,
                      position::PairLayout layout);

/// Largest differences of several outcomes from the reference.
struct Errors {
  double out = 0, q = 0, k = 0, v = 0, theta = 0;
  void raise(const Outcome& actual, const Outcome& reference);
};

void expect_outcome(const Outcome& actual, const Outcome& reference, double atol,
                    const std::string& what);
/// style: max|kernel - ref| <= 2 max|torch same dtype - ref| + 1e-6.
void expect_within_twice(const Errors& ours, const Errors& torch, const std::string& what);

/// Every registered scheme that needs no run, in both pair layouts, under every mask: float64
/// against the reference, bfloat16 by the rule above over each mask.
void check_schemes_in_float64(const Target& target, double atol);
void check_schemes_in_bfloat16(const Target& target);
/// Longer biased and windowed sequences of several sizes, continued ones among them, in bfloat16.
void check_long_rows_in_bfloat16(const Target& target);

}  // namespace gyre::attention::cuda::testing
