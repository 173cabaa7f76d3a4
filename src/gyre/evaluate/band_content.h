// What the band report is computed from: the channels of rotated pairs, their norms, and per head
// the mean content A_m whose rotation by distance is a pair's positional contribution.
#pragma once

#include <ATen/core/Tensor.h>

#include <complex>
#include <cstdint>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::evaluate {

using Frequencies = std::vector<std::vector<double>>;  // [group][pair] rad per token; empty = none

/// The two channels of every pair as a complex number, [B, H, T, P] float64.
struct Channels {
  at::Tensor re, im;
};

/// x [B, H, T, D], queries or keys before the rotation.
Channels channels(const at::Tensor& x_BHTD, const position::PositionPlan& plan);

/// Mean 2-norm of each pair, [head][pair].
std::vector<std::vector<double>> chunk_norms(const Channels& x);

/// Means of the columns, [pair].
std::vector<double> mean_over_rows(const std::vector<std::vector<double>>& rows);

/// One layer: A_m times the logit scale, and theta, per query head.
struct LayerBands {
  std::vector<std::vector<std::complex<double>>> content;  // [head][pair]
  std::vector<std::vector<double>> theta;                  // [head][pair]; 0 = not rotated
  std::vector<double> decay;                               // [pair], nats per token; empty = none

  size_t n_heads() const { return content.size(); }
  /// C_m at a distance in tokens; 0 for a pair that is not rotated.
  double contribution(size_t h, size_t m, double distance) const;
  /// Sum over all pairs of a head but one.
  double others(size_t h, size_t without, double distance) const;
};

LayerBands layer_bands(const Channels& q, const Channels& k, const position::PositionPlan& plan,
                       const position::LayerPlan& layer, const Frequencies& inv_freq);

}  // namespace gyre::evaluate
