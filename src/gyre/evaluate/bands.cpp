#include "gyre/evaluate/bands.h"

#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace gyre::evaluate {
namespace {

constexpr double kSuppressedTurns = 0.05;                 // claim L30, equations of docs/eval.md
constexpr double kGatheredFrom = 1.8, kGatheredTo = 2.4;  // around 2 and 2.2 x the training length
constexpr int64_t kEveryDistance = 4096, kDenseDistances = 1024;
constexpr double kPerOctave = 150.0;

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double range() const { return high - low; }
};

/// Range of C_m over the distances, [head][pair].
PerLayer ranges(const LayerBands& bands, const std::vector<int64_t>& distances) {
  PerLayer out;
  for (size_t h = 0; h < bands.n_heads(); ++h) {
    auto& row = out.emplace_back();
    for (size_t m = 0; m < bands.content[h].size(); ++m) {
      Extent extent;
      for (const int64_t distance : distances) {
        extent.add(bands.contribution(h, m, static_cast<double>(distance)));
      }
      row.push_back(extent.range());
    }
  }
  return out;
}

/// 0, 1, 2, ... and then eight per octave, to `last`.
std::vector<int64_t> log_grid(int64_t last) {
  std::vector<int64_t> grid = {0};
  for (double x = 1.0; x < static_cast<double>(last); x *= std::exp2(0.125)) {
    if (const auto whole = std::llround(x); whole > grid.back()) {
      grid.push_back(whole);
    }
  }
  grid.push_back(last);
  return grid;
}

std::vector<double> mean_wavelengths(const Frequencies& inv_freq, int64_t n_pairs) {
  std::vector<double> theta(static_cast<size_t>(n_pairs), 0.0);
  if (!inv_freq.empty()) {
    theta = mean_over_rows(inv_freq);
  }
  for (double& each : theta) {
    each = position::wavelength_tokens(each);
  }
  return theta;
}

void classify_pairs(BandReport& out, const std::vector<Frequencies>& inv_freq, int64_t n_pairs,
                    int64_t train_length) {
  const auto length = static_cast<double>(train_length);
  for (int64_t m = 0; m < n_pairs; ++m) {
    bool suppressed = true, gathered = false;
    for (const Frequencies& layer : inv_freq) {
      for (const std::vector<double>& group : layer) {
        const double turns = group[static_cast<size_t>(m)] * length / (2.0 * std::numbers::pi);
        suppressed = suppressed && turns < kSuppressedTurns;
        gathered = gathered || (turns * kGatheredTo >= 1.0 && turns * kGatheredFrom <= 1.0);
      }
    }
    if (suppressed) {
      out.suppressed.push_back(m);
    }
    if (gathered) {
      out.gathered.push_back(m);
    }
  }
}

std::vector<double> sum_over_layers(const PerLayer& contribution) {
  std::vector<double> sum(contribution.front().size(), 0.0);
  for (const std::vector<double>& layer : contribution) {
    for (size_t m = 0; m < sum.size(); ++m) {
      sum[m] += layer[m];
    }
  }
  return sum;
}

/// Wavelength of band m where its range is largest over layers and heads.
double strongest_wavelength(const std::vector<LayerUse>& layers,
                            const std::vector<PerLayer>& head_ranges, size_t m) {
  double best = -1.0, theta = 0.0;
  for (size_t n = 0; n < layers.size(); ++n) {
    for (size_t h = 0; h < layers[n].bands.n_heads(); ++h) {
      if (head_ranges[n][h][m] > best) {
        best = head_ranges[n][h][m];
        theta = layers[n].bands.theta[h][m];
      }
    }
  }
  return position::wavelength_tokens(theta);
}

void find_dominant(BandReport& out, const std::vector<LayerUse>& layers,
                   const std::vector<PerLayer>& head_ranges, int64_t train_length) {
  const std::vector<double> sum = sum_over_layers(out.contribution);
  const auto first = std::max_element(sum.begin(), sum.end());
  if (*first <= 0.0) {
    return;
  }
  double second = 0.0, total = 0.0;
  for (auto each = sum.begin(); each != sum.end(); ++each) {
    second = each == first ? second : std::max(second, *each);
    total += *each;
  }
  DominantBand band;
  band.band = first - sum.begin();
  band.wavelength = strongest_wavelength(layers, head_ranges, static_cast<size_t>(band.band));
  band.over_train_length = band.wavelength / static_cast<double>(train_length);
  band.ratio = *first / second;
  out.dominant = band;
  for (const double each : sum) {
    out.entropy -= each > 0.0 ? each / total * std::log(each / total) : 0.0;
  }
  out.effective_bands = std::exp(out.entropy);
}

void add_curves(BandReport& out, const std::vector<LayerUse>& layers, size_t dominant) {
  for (const LayerUse& use : layers) {
    const LayerBands& layer = use.bands;
    auto& first = out.curve_dominant.emplace_back();
    auto& rest = out.curve_others.emplace_back();
    const auto heads = static_cast<double>(layer.n_heads());
    for (const int64_t distance : out.distance) {
      const auto x = static_cast<double>(distance);
      double sum_first = 0.0, sum_rest = 0.0;
      for (size_t h = 0; h < layer.n_heads(); ++h) {
        sum_first += layer.contribution(h, dominant, x);
        sum_rest += layer.others(h, dominant, x);
      }
      first.push_back(sum_first / heads);
      rest.push_back(sum_rest / heads);
    }
  }
}

double cancellation(const std::vector<LayerUse>& layers, const std::vector<PerLayer>& head_ranges,
                    size_t dominant, const std::vector<int64_t>& distances) {
  double of_sum = 0.0, sum_of = 0.0;
  for (size_t n = 0; n < layers.size(); ++n) {
    for (size_t h = 0; h < layers[n].bands.n_heads(); ++h) {
      Extent extent;
      for (const int64_t distance : distances) {
        extent.add(layers[n].bands.others(h, dominant, static_cast<double>(distance)));
      }
      of_sum += extent.range();
      for (size_t m = 0; m < head_ranges[n][h].size(); ++m) {
        sum_of += m == dominant ? 0.0 : head_ranges[n][h][m];
      }
    }
  }
  return sum_of > 0.0 ? 1.0 - of_sum / sum_of : 0.0;
}

bool rotates(const std::vector<Frequencies>& inv_freq) {
  for (const Frequencies& layer : inv_freq) {
    for (const std::vector<double>& group : layer) {
      if (std::any_of(group.begin(), group.end(), [](double theta) { return theta != 0.0; })) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace

std::vector<int64_t> range_distances(int64_t length) {
  std::vector<int64_t> out;
  const int64_t dense = length <= kEveryDistance ? length : kDenseDistances;
  for (int64_t distance = 0; distance < dense; ++distance) {
    out.push_back(distance);
  }
  double x = static_cast<double>(dense);
  for (; dense < length && x < static_cast<double>(length - 1); x *= std::exp2(1.0 / kPerOctave)) {
    out.push_back(std::llround(x));
  }
  if (dense < length) {
    out.push_back(length - 1);
  }
  return out;
}

std::optional<BandReport> report_bands(const std::vector<LayerUse>& layers, int64_t n_pairs,
                                       const std::vector<Frequencies>& inv_freq,
                                       int64_t train_length) {
  if (!rotates(inv_freq)) {
    return std::nullopt;
  }
  BandReport out;
  const std::vector<int64_t> distances = range_distances(train_length);
  std::vector<PerLayer> head_ranges;
  for (size_t n = 0; n < layers.size(); ++n) {
    out.q_norm_heads.push_back(layers[n].q_norm_heads);
    out.k_norm_heads.push_back(layers[n].k_norm_heads);
    out.q_norm.push_back(mean_over_rows(out.q_norm_heads.back()));
    out.k_norm.push_back(mean_over_rows(out.k_norm_heads.back()));
    out.wavelength.push_back(mean_wavelengths(inv_freq[n], n_pairs));
    head_ranges.push_back(ranges(layers[n].bands, distances));
    out.contribution.push_back(mean_over_rows(head_ranges.back()));
  }
  classify_pairs(out, inv_freq, n_pairs, train_length);
  find_dominant(out, layers, head_ranges, train_length);
  if (out.dominant) {
    const auto band = static_cast<size_t>(out.dominant->band);
    out.distance = log_grid(4 * train_length);
    add_curves(out, layers, band);
    out.cancellation = cancellation(layers, head_ranges, band, distances);
  }
  return out;
}

std::optional<BandReport> analyze_bands(const model::Capture& capture,
                                        const position::PositionPlan& plan,
                                        const std::vector<Frequencies>& inv_freq,
                                        int64_t train_length) {
  if (!rotates(inv_freq)) {
    return std::nullopt;
  }
  const c10::NoGradGuard no_grad;
  std::vector<LayerUse> layers;
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const Channels q = channels(capture.q[n], plan), k = channels(capture.k[n], plan);
    layers.push_back(
        {chunk_norms(q), chunk_norms(k), layer_bands(q, k, plan, plan.layers[n], inv_freq[n])});
  }
  return report_bands(layers, plan.n_pairs(), inv_freq, train_length);
}

}  // namespace gyre::evaluate
