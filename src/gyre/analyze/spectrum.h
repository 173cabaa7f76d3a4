// The gradient signal by offset and its surrogate, for a loss on one row (equations of
// docs/analyze.md):
//   A_m[d] = c sum over i - j = d of G_ij z_q,m(i) conj(z_k,m(j)),   G_ij = dL / d(logit before
//   cap) P_m(x) = Re sum_d A_m[d] e^{i d x},                             dL/dtheta_m =
//   P_m'(theta_m)
// The slope on the right is made from A, the gradient on the left by the kernel that trains
// frequencies, so that each checks the other. Frequencies that several layers and heads share are
// summed over them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/analyze/rows.h"

namespace gyre::analyze {

struct SpectrumPair {
  int64_t pair = 0;
  double theta = 0.0;               // rad per token
  double gradient = 0.0;            // dL/dtheta, measured
  double slope = 0.0;               // P'(theta)
  std::vector<double> re, im;       // A[d], d = 0 .. T - 1; of drawn pairs
  std::vector<double> grid, value;  // P over frequencies; of drawn pairs
};

/// Layers (and key/value heads) with one table of frequencies.
struct SpectrumTable {
  std::string layers;  // "0-29", "0, 2, 4 head 1"
  std::vector<SpectrumPair> pairs;
};

struct Spectrum {
  int64_t tokens = 0;
  double loss = 0.0;   // nats per token
  double worst = 0.0;  // largest |slope - gradient| over the largest |gradient| of its table
  std::vector<SpectrumTable> tables;
};

/// The row is the beginning of the first text. Keeps the activations of the whole model, and of a
/// streamed one all blocks. Attention is computed in double.
Spectrum measure_spectrum(const Subject& subject, const Rows& rows, const AnalyzeOptions& options);

std::string to_json(const Spectrum& spectrum);
Spectrum spectrum_from_json(const std::string& text, const std::string& owner);

}  // namespace gyre::analyze
