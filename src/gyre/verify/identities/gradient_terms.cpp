#include "gyre/verify/identities/gradient_terms.h"

namespace gyre::verify {
namespace {

using Complex = std::complex<double>;

Complex pair_of(const Rows& rows, int64_t t, int64_t m) {
  return {rows.at(0, 0, t, m), rows.at(0, 0, t, m + rows.head_dim / 2)};
}

// dL/ds_ij of one row of the causal softmax.
std::vector<double> score_gradient(const GradientProblem& p, int64_t i) {
  const int64_t D = p.raw.q.head_dim;
  const auto& bands = p.plan.layers[0].inv_freq[0];
  std::vector<double> alpha, outer;
  double largest = -INFINITY, total = 0.0, mean = 0.0;
  for (int64_t j = 0; j <= i; ++j) {
    double score = 0.0, gain = 0.0;
    for (int64_t m = 0; m < D / 2; ++m) {
      const Complex turn =
          std::polar(1.0, static_cast<double>(i - j) * bands[static_cast<size_t>(m)]);
      score += (pair_of(p.raw.q, i, m) * std::conj(pair_of(p.raw.k, j, m)) * turn).real();
    }
    for (int64_t d = 0; d < D; ++d) {
      gain += p.weight.at(0, 0, i, d) * p.raw.v.at(0, 0, j, d);
    }
    alpha.push_back(score / std::sqrt(static_cast<double>(D)));
    outer.push_back(gain);
    largest = std::max(largest, alpha.back());
  }
  for (double& a : alpha) {
    a = std::exp(a - largest);
    total += a;
  }
  for (size_t j = 0; j < alpha.size(); ++j) {
    alpha[j] /= total;
    mean += alpha[j] * outer[j];
  }
  for (size_t j = 0; j < alpha.size(); ++j) {
    alpha[j] *= outer[j] - mean;
  }
  return alpha;
}

}  // namespace

GradientProblem gradient_problem(const std::string& stream, int64_t n_tokens, int64_t head_dim,
                                 int64_t first_position) {
  const Shape shape{1, 1, n_tokens, head_dim};
  return {{normal_rows(stream + " q", shape), normal_rows(stream + " k", shape),
           normal_rows(stream + " v", shape)},
          normal_rows(stream + " weight", shape),
          plan_of(geometric(10000.0, head_dim / 2, head_dim), head_dim),
          count_from(first_position, n_tokens)};
}

std::vector<std::vector<Complex>> gathered_signal(const GradientProblem& p) {
  const int64_t T = p.raw.q.n_tokens, P = p.raw.q.head_dim / 2;
  std::vector<std::vector<Complex>> signal(static_cast<size_t>(P),
                                           std::vector<Complex>(static_cast<size_t>(T)));
  const double c = 1.0 / std::sqrt(static_cast<double>(p.raw.q.head_dim));
  for (int64_t i = 0; i < T; ++i) {
    const std::vector<double> g = score_gradient(p, i);
    for (int64_t j = 0; j <= i; ++j) {
      for (int64_t m = 0; m < P; ++m) {
        signal[static_cast<size_t>(m)][static_cast<size_t>(i - j)] +=
            c * g[static_cast<size_t>(j)] * pair_of(p.raw.q, i, m) *
            std::conj(pair_of(p.raw.k, j, m));
      }
    }
  }
  return signal;
}

double surrogate(const std::vector<Complex>& signal, double x) {
  double sum = 0.0;
  for (size_t distance = 0; distance < signal.size(); ++distance) {
    sum += (signal[distance] * std::polar(1.0, static_cast<double>(distance) * x)).real();
  }
  return sum;
}

double surrogate_derivative(const std::vector<Complex>& signal, double x) {
  double sum = 0.0;
  for (size_t distance = 0; distance < signal.size(); ++distance) {
    const auto n = static_cast<double>(distance);
    sum -= n * (signal[distance] * std::polar(1.0, n * x)).imag();
  }
  return sum;
}

}  // namespace gyre::verify
