// The float64 reference: plain loops over plain vectors, no helper shared with the fast paths.
// Every fast path, mask, cache mode and gradient is compared with this.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::attention {

/// Row-major [B, heads, T, D] doubles.
struct ReferenceTensor {
  int64_t n_batch = 0, n_heads = 0, n_tokens = 0, head_dim = 0;
  std::vector<double> values;
  double& at(int64_t b, int64_t h, int64_t t, int64_t d);
  double at(int64_t b, int64_t h, int64_t t, int64_t d) const;
};

struct ReferenceInput {
  ReferenceTensor q, k, v;  // q has H heads and T tokens; k, v have G heads and S >= T tokens
  std::vector<int64_t> q_positions, k_positions;  // [T], [S] tokens
  position::PairLayout layout = position::PairLayout::Unstated;
  position::LayerPlan layer;  // everything in it is applied
};

struct ReferenceGradient {
  ReferenceTensor q, k, v;
  std::vector<std::vector<double>> inv_freq;  // dL/dtheta, shape of layer.inv_freq
};

/// Rotation, scores, bias, mask, softmax, values.
ReferenceTensor reference_attention(const ReferenceInput& input);

/// Gradients of sum(output * weight) by the closed form over pairs (i, j):
/// ds_ij/dtheta_m = -scale (i - j) Im[z_q z_k* e^{i (i-j) theta_m}] (equations 2.1).
ReferenceGradient reference_gradient(const ReferenceInput& input, const ReferenceTensor& weight);

}  // namespace gyre::attention
