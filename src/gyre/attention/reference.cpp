#include "gyre/attention/reference.h"

#include <cmath>
#include <complex>
#include <limits>

#include "gyre/base/error.h"

namespace gyre::attention {
namespace {

using Complex = std::complex<double>;

ReferenceTensor zeros_like(const ReferenceTensor& x) {
  ReferenceTensor out = x;
  out.values.assign(x.values.size(), 0.0);
  return out;
}

// The problem with its sizes and the index rules that every loop needs.
struct Problem {
  const ReferenceInput& in;
  int64_t n_pairs = 0, n_bands = 0;  // P, rows of inv_freq

  explicit Problem(const ReferenceInput& input) : in(input) {
    n_bands = static_cast<int64_t>(in.layer.inv_freq.size());
    n_pairs = n_bands == 0 ? 0 : static_cast<int64_t>(in.layer.inv_freq[0].size());
    const bool fits = in.q.n_heads % in.k.n_heads == 0 && in.k.n_tokens >= in.q.n_tokens &&
                      in.q.head_dim >= 2 * n_pairs &&
                      static_cast<int64_t>(in.q_positions.size()) == in.q.n_tokens &&
                      static_cast<int64_t>(in.k_positions.size()) == in.k.n_tokens;
    if (!fits) {
      throw Error(Code::Internal, "reference attention: sizes of q, k and positions do not fit");
    }
    if (n_pairs > 0 && in.layout == position::PairLayout::Unstated) {
      throw Error(Code::Internal, "reference attention: the pair layout is not stated");
    }
  }

  // Factor on the dot product of query i: 1/sqrt(D), the layer's own, and the growth of the query.
  double scale(int64_t i) const {
    const auto position = static_cast<double>(in.q_positions[static_cast<size_t>(i)]);
    const double step = std::floor((position + 1.0) / in.layer.query_growth_floor);
    const double growth =
        in.layer.query_growth == 0.0 ? 1.0 : 1.0 + in.layer.query_growth * std::log(1.0 + step);
    return growth * in.layer.logit_scale / std::sqrt(static_cast<double>(in.q.head_dim));
  }
  double capped(double score) const {
    const double cap = in.layer.score_cap;
    return cap == 0.0 ? score : cap * std::tanh(score / cap);
  }
  // Derivative of capped() by the score that it was made of.
  double cap_slope(double capped_score) const {
    const double cap = in.layer.score_cap;
    return cap == 0.0 ? 1.0 : 1.0 - capped_score * capped_score / (cap * cap);
  }
  double bias(int64_t h, int64_t i, int64_t j) const {
    const double slope = in.layer.slopes.empty() ? 0.0 : in.layer.slopes[static_cast<size_t>(h)];
    return -slope * static_cast<double>(row(i) - j);
  }
  // Factor on pair m's part of the score at a distance.
  double decay(int64_t m, double tokens) const {
    return in.layer.decay.empty() ? 1.0
                                  : std::exp(-in.layer.decay[static_cast<size_t>(m)] * tokens);
  }
  int64_t group(int64_t h) const { return h * in.k.n_heads / in.q.n_heads; }
  int64_t band_row(int64_t g) const { return g * n_bands / in.k.n_heads; }
  double theta(int64_t g, int64_t m) const {
    return in.layer.inv_freq[static_cast<size_t>(band_row(g))][static_cast<size_t>(m)];
  }
  // A pair that does not turn is left as it is, amplitude included.
  double amplitude(int64_t g, int64_t m) const {
    return theta(g, m) == 0.0 ? 1.0 : in.layer.amplitude;
  }
  int64_t x_channel(int64_t m) const {
    return in.layout == position::PairLayout::Interleaved ? 2 * m : m;
  }
  int64_t y_channel(int64_t m) const {
    return in.layout == position::PairLayout::Interleaved ? 2 * m + 1 : m + n_pairs;
  }
  Complex pair(const ReferenceTensor& x, int64_t b, int64_t h, int64_t t, int64_t m) const {
    return {x.at(b, h, t, x_channel(m)), x.at(b, h, t, y_channel(m))};
  }
  double distance(int64_t i, int64_t j) const {
    return static_cast<double>(in.q_positions[static_cast<size_t>(i)] -
                               in.k_positions[static_cast<size_t>(j)]);
  }
  // Index of query i among the keys.
  int64_t row(int64_t i) const { return in.k.n_tokens - in.q.n_tokens + i; }

  // scale * q.R k + bias, through absolute positions as a model does it.
  double score(int64_t b, int64_t h, int64_t i, int64_t j) const {
    const int64_t g = group(h);
    double dot = 0.0;
    for (int64_t m = 0; m < n_pairs; ++m) {
      const double a = amplitude(g, m);
      const Complex zq = pair(in.q, b, h, i, m), zk = pair(in.k, b, g, j, m);
      const auto qp = static_cast<double>(in.q_positions[static_cast<size_t>(i)]);
      const auto kp = static_cast<double>(in.k_positions[static_cast<size_t>(j)]);
      const Complex rq = a * zq * std::polar(1.0, qp * theta(g, m));
      const Complex rk = a * zk * std::polar(1.0, kp * theta(g, m));
      dot += decay(m, qp - kp) * (rq.real() * rk.real() + rq.imag() * rk.imag());
    }
    for (int64_t d = 2 * n_pairs; d < in.q.head_dim; ++d) {
      dot += in.q.at(b, h, i, d) * in.k.at(b, g, j, d);
    }
    return capped(scale(i) * dot) + bias(h, i, j);
  }

  // Softmax row of query i over all keys; 0 where the mask hides one.
  std::vector<double> weights(int64_t b, int64_t h, int64_t i) const {
    std::vector<double> row_weights(static_cast<size_t>(in.k.n_tokens), 0.0);
    double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
    for (int64_t j = 0; j < in.k.n_tokens; ++j) {
      if (in.layer.mask.sees(row(i), j)) {
        row_weights[static_cast<size_t>(j)] = score(b, h, i, j);
        largest = std::max(largest, row_weights[static_cast<size_t>(j)]);
      }
    }
    for (int64_t j = 0; j < in.k.n_tokens; ++j) {
      if (in.layer.mask.sees(row(i), j)) {
        double& weight = row_weights[static_cast<size_t>(j)];
        weight = std::exp(weight - largest);
        sum += weight;
      }
    }
    for (double& weight : row_weights) {
      weight /= sum;
    }
    return row_weights;
  }
};

// Adds ds * d score_ij / d(q_i, k_j, theta).
void add_score_gradient(const Problem& p, int64_t b, int64_t h, int64_t i, int64_t j, double ds,
                        ReferenceGradient& out) {
  const int64_t g = p.group(h);
  const double c = p.scale(i) * ds, distance = p.distance(i, j);
  for (int64_t m = 0; m < p.n_pairs; ++m) {
    const double factor = p.amplitude(g, m) * p.amplitude(g, m) * p.decay(m, distance);
    const Complex turn = std::polar(factor, distance * p.theta(g, m));
    const Complex zq = p.pair(p.in.q, b, h, i, m), zk = p.pair(p.in.k, b, g, j, m);
    // s = c Re[z_q conj(z_k) e^{i distance theta}]
    const Complex dq = c * zk * std::conj(turn), dk = c * zq * turn;
    out.q.at(b, h, i, p.x_channel(m)) += dq.real();
    out.q.at(b, h, i, p.y_channel(m)) += dq.imag();
    out.k.at(b, g, j, p.x_channel(m)) += dk.real();
    out.k.at(b, g, j, p.y_channel(m)) += dk.imag();
    out.inv_freq[static_cast<size_t>(p.band_row(g))][static_cast<size_t>(m)] -=
        c * distance * (zq * std::conj(zk) * turn).imag();
  }
  for (int64_t d = 2 * p.n_pairs; d < p.in.q.head_dim; ++d) {
    out.q.at(b, h, i, d) += c * p.in.k.at(b, g, j, d);
    out.k.at(b, g, j, d) += c * p.in.q.at(b, h, i, d);
  }
}

void add_row_gradient(const Problem& p, const ReferenceTensor& weight, int64_t b, int64_t h,
                      int64_t i, ReferenceGradient& out) {
  const int64_t g = p.group(h), n_keys = p.in.k.n_tokens;
  const std::vector<double> alpha = p.weights(b, h, i);
  std::vector<double> d_alpha(static_cast<size_t>(n_keys), 0.0);
  double mean = 0.0;
  for (int64_t j = 0; j < n_keys; ++j) {
    const auto key = static_cast<size_t>(j);
    for (int64_t d = 0; d < p.in.q.head_dim; ++d) {
      d_alpha[key] += weight.at(b, h, i, d) * p.in.v.at(b, g, j, d);
      out.v.at(b, g, j, d) += alpha[key] * weight.at(b, h, i, d);
    }
    mean += alpha[key] * d_alpha[key];
  }
  for (int64_t j = 0; j < n_keys; ++j) {
    const auto key = static_cast<size_t>(j);
    const double slope =
        alpha[key] == 0.0 ? 0.0 : p.cap_slope(p.score(b, h, i, j) - p.bias(h, i, j));
    add_score_gradient(p, b, h, i, j, alpha[key] * (d_alpha[key] - mean) * slope, out);
  }
}

}  // namespace

double& ReferenceTensor::at(int64_t b, int64_t h, int64_t t, int64_t d) {
  return values[static_cast<size_t>(((b * n_heads + h) * n_tokens + t) * head_dim + d)];
}

double ReferenceTensor::at(int64_t b, int64_t h, int64_t t, int64_t d) const {
  return values[static_cast<size_t>(((b * n_heads + h) * n_tokens + t) * head_dim + d)];
}

ReferenceTensor reference_attention(const ReferenceInput& input) {
  const Problem p(input);
  ReferenceTensor out = zeros_like(input.q);
  for (int64_t b = 0; b < input.q.n_batch; ++b) {
    for (int64_t h = 0; h < input.q.n_heads; ++h) {
      for (int64_t i = 0; i < input.q.n_tokens; ++i) {
        const std::vector<double> weights = p.weights(b, h, i);
        for (int64_t j = 0; j < input.k.n_tokens; ++j) {
          for (int64_t d = 0; d < input.q.head_dim; ++d) {
            out.at(b, h, i, d) += weights[static_cast<size_t>(j)] * input.v.at(b, p.group(h), j, d);
          }
        }
      }
    }
  }
  return out;
}

ReferenceGradient reference_gradient(const ReferenceInput& input, const ReferenceTensor& weight) {
  const Problem p(input);
  ReferenceGradient out{zeros_like(input.q), zeros_like(input.k), zeros_like(input.v), {}};
  for (const auto& bands : input.layer.inv_freq) {
    out.inv_freq.emplace_back(bands.size(), 0.0);
  }
  for (int64_t b = 0; b < input.q.n_batch; ++b) {
    for (int64_t h = 0; h < input.q.n_heads; ++h) {
      for (int64_t i = 0; i < input.q.n_tokens; ++i) {
        add_row_gradient(p, weight, b, h, i, out);
      }
    }
  }
  return out;
}

}  // namespace gyre::attention
