// Plain-double gradient of the frequencies, shared by the identities about them: loss
// sum(attention * weight) of one head, G_ij = dL/ds_ij, and A_m[distance].
#pragma once

#include <complex>

#include "gyre/verify/probe.h"

namespace gyre::verify {

/// One head whose first 2P channels form pairs (m, m + P).
struct GradientProblem {
  Keyed raw;
  Rows weight;
  position::PositionPlan plan;
  std::vector<int64_t> positions;
};

GradientProblem gradient_problem(const std::string& stream, int64_t n_tokens, int64_t head_dim,
                                 int64_t first_position);

/// A_m[distance] = c sum over i - j = distance of G_ij z_q,m(i) conj(z_k,m(j)), c = 1 / sqrt(D),
/// for distance 0 .. T-1 (equations 2.1; scores by absolute positions in plain complex numbers).
std::vector<std::vector<std::complex<double>>> gathered_signal(const GradientProblem& problem);

/// P_m(x) = Re sum_distance A_m[distance] e^{i distance x}, and its derivative.
double surrogate(const std::vector<std::complex<double>>& signal, double x);
double surrogate_derivative(const std::vector<std::complex<double>>& signal, double x);

}  // namespace gyre::verify
