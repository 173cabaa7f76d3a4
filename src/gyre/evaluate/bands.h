// How a model uses its frequency bands: chunk norms of queries and keys (R09, R21) and the
// positional contribution of each rotated pair to the logits (L31, L32, L35), from queries and keys
// captured before the rotation.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "gyre/evaluate/band_content.h"
#include "gyre/model/transformer.h"
#include "gyre/position/plan.h"

namespace gyre::evaluate {

using PerLayer = std::vector<std::vector<double>>;  // [layer][pair]

struct DominantBand {
  int64_t band = 0;
  double wavelength = 0.0;  // tokens, where its contribution is largest (layer and group)
  double over_train_length = 0.0;
  double ratio = 0.0;  // contribution of the first band over that of the second; inf for one band
};

struct BandReport {
  PerLayer wavelength;      // tokens, mean frequency over groups; inf = not rotated
  PerLayer q_norm, k_norm;  // mean 2-norm of a pair's two channels, over tokens and heads
  std::vector<PerLayer> q_norm_heads, k_norm_heads;  // [layer][head][pair]
  PerLayer contribution;  // range of C_m over distances 0 .. train_length - 1, mean over heads
  std::optional<DominantBand> dominant;  // none when no band contributes
  std::vector<int64_t> suppressed;       // pairs with phase < 0.05 turn at train_length, everywhere
  std::vector<int64_t> gathered;  // pairs with wavelength in [1.8, 2.4] train_length anywhere
  double entropy = 0.0;           // nats, of the contributions over bands; 0 = one band does it all
  double effective_bands = 0.0;   // exp(entropy)
  double cancellation = 0.0;      // 1 - range of the others' sum / sum of their ranges
  std::vector<int64_t> distance;  // of the curves, to 4 x train_length
  PerLayer curve_dominant, curve_others;  // [layer][distance] mean over heads, logits
};

/// What is kept of one layer's queries and keys.
struct LayerUse {
  PerLayer q_norm_heads, k_norm_heads;  // [head][pair]
  LayerBands bands;
};

/// Distances at which ranges over 0 .. length - 1 are taken: every one up to 4096, beyond that
/// every one up to 1024 and then 150 per octave.
std::vector<int64_t> range_distances(int64_t length);

/// The report from what was kept of each layer; nullopt when nothing rotates.
std::optional<BandReport> report_bands(const std::vector<LayerUse>& layers, int64_t n_pairs,
                                       const std::vector<Frequencies>& inv_freq,
                                       int64_t train_length);

/// C_m(delta) = scale Re(A_m e^{i delta theta_m}) with A_m = mean over captured pairs i >= j of one
/// window of z_q,m(i) conj(z_k,m(j)): what the band adds to a logit by distance alone, content
/// averaged out. scale = amplitude^2 logit_scale / sqrt(D).
///
/// capture   queries and keys per layer, before the rotation
/// inv_freq  [layer][group][pair] in force (learned factors included)
/// returns   nullopt when nothing rotates
std::optional<BandReport> analyze_bands(const model::Capture& capture,
                                        const position::PositionPlan& plan,
                                        const std::vector<Frequencies>& inv_freq,
                                        int64_t train_length);

}  // namespace gyre::evaluate
