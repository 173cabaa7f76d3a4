#include "gyre/analyze/positions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gyre::analyze {
namespace {

constexpr int64_t kWindows = 16;  // how far outside the training length the sign is followed

/// Per query head: frequencies of its group.
Matrix head_frequencies(const evaluate::Frequencies& inv_freq, size_t n_heads, size_t n_pairs) {
  Matrix out;
  for (size_t h = 0; h < n_heads; ++h) {
    out.push_back(inv_freq.empty() ? std::vector<double>(n_pairs, 0.0)
                                   : inv_freq[h * inv_freq.size() / n_heads]);
  }
  return out;
}

evaluate::LayerUse use_of(const LayerRecord& record, const position::LayerPlan& layer,
                          const evaluate::Frequencies& inv_freq) {
  evaluate::LayerUse use{record.q_heads, record.k_heads, {}};
  use.bands.content = record.content;
  use.bands.theta =
      head_frequencies(inv_freq, record.content.size(), record.content.front().size());
  use.bands.decay = layer.decay;
  return use;
}

std::vector<LayerDominant> layer_dominants(const std::vector<LayerRecord>& layers,
                                           const evaluate::BandReport& bands) {
  std::vector<LayerDominant> out;
  for (size_t n = 0; n < layers.size(); ++n) {
    const std::vector<double>& range = bands.contribution[n];
    const auto best = std::max_element(range.begin(), range.end());
    const double sum = std::accumulate(range.begin(), range.end(), 0.0);
    if (sum > 0.0) {
      const auto band = static_cast<size_t>(best - range.begin());
      out.push_back({layers[n].layer, static_cast<int64_t>(band), bands.wavelength[n][band], *best,
                     *best / sum});
    }
  }
  return out;
}

std::optional<int64_t> rises_again(const evaluate::LayerBands& bands, size_t h, size_t m,
                                   int64_t last) {
  // The minimum is looked for within the first turn, where a cosine has exactly one.
  const double turn = position::wavelength_tokens(bands.theta[h][m]);
  const auto end = static_cast<int64_t>(std::min(std::ceil(turn), static_cast<double>(last)));
  int64_t lowest = 0;
  double least = bands.contribution(h, m, 0.0);
  for (int64_t distance = 1; distance <= end; ++distance) {
    const double value = bands.contribution(h, m, static_cast<double>(distance));
    if (value < least) {
      least = value;
      lowest = distance;
    }
  }
  for (int64_t distance = lowest; distance <= last; ++distance) {
    if (bands.contribution(h, m, static_cast<double>(distance)) > 0.0) {
      return distance;
    }
  }
  return std::nullopt;
}

double range_of(const evaluate::LayerBands& bands, size_t h, size_t m,
                const std::vector<int64_t>& distances) {
  double low = bands.contribution(h, m, 0.0), high = low;
  for (const int64_t distance : distances) {
    const double value = bands.contribution(h, m, static_cast<double>(distance));
    low = std::min(low, value);
    high = std::max(high, value);
  }
  return high - low;
}

SignChange sign_change(const std::vector<LayerRecord>& layers,
                       const std::vector<evaluate::LayerUse>& uses, size_t m,
                       int64_t train_length) {
  SignChange out;
  size_t best_n = 0, best_h = 0;
  double most = -1.0;
  const std::vector<int64_t> distances = evaluate::range_distances(train_length);
  for (size_t n = 0; n < uses.size(); ++n) {
    const evaluate::LayerBands& bands = uses[n].bands;
    for (size_t h = 0; h < bands.n_heads(); ++h) {
      if (const double range = range_of(bands, h, m, distances); range > most) {
        most = range;
        best_n = n;
        best_h = h;
      }
    }
  }
  const evaluate::LayerBands& bands = uses[best_n].bands;
  out.layer = layers[best_n].layer;
  out.head = static_cast<int64_t>(best_h);
  out.wavelength = position::wavelength_tokens(bands.theta[best_h][m]);
  out.phase = std::arg(bands.content[best_h][m]);
  out.predicted = 0.75 * out.wavelength;
  out.measured = rises_again(bands, best_h, m, kWindows * train_length);
  return out;
}

}  // namespace

std::optional<Positions> measure_positions(const std::vector<LayerRecord>& layers,
                                           const model::Transformer& model, int64_t train_length) {
  const auto inv_freq = model.current_inv_freq();
  std::vector<evaluate::LayerUse> uses;
  for (size_t n = 0; n < layers.size(); ++n) {
    uses.push_back(use_of(layers[n], model.plan().layers[n], inv_freq[n]));
  }
  auto bands = evaluate::report_bands(uses, model.plan().n_pairs(), inv_freq, train_length);
  if (!bands) {
    return std::nullopt;
  }
  Positions out;
  out.train_length = train_length;
  out.layers = layer_dominants(layers, *bands);
  if (bands->dominant) {
    out.sign_change =
        sign_change(layers, uses, static_cast<size_t>(bands->dominant->band), train_length);
  }
  out.bands = std::move(*bands);
  return out;
}

}  // namespace gyre::analyze
