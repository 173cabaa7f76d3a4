#include "gyre/evaluate/bands.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/slice.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

namespace gyre::evaluate {
namespace {

using Complex = std::complex<double>;
using Frequencies = std::vector<std::vector<double>>;  // [group][pair]

constexpr double kSuppressedTurns = 0.05;                 // claim L30, equations of docs/eval.md
constexpr double kGatheredFrom = 1.8, kGatheredTo = 2.4;  // around 2 and 2.2 x the training length

/// The channels of all pairs: x [B, H, T, D] -> two tensors [B, H, T, P] in double.
struct Channels {
  at::Tensor re, im;
};

Channels channels(const at::Tensor& x_BHTD, const position::PositionPlan& plan) {
  const int64_t R = plan.rotary_dim;
  const at::Tensor x = x_BHTD.to(at::kCPU, at::kDouble).narrow(-1, 0, R);
  if (plan.layout == position::PairLayout::Interleaved) {
    return {x.slice(-1, 0, R, 2), x.slice(-1, 1, R, 2)};
  }
  return {x.narrow(-1, 0, R / 2), x.narrow(-1, R / 2, R / 2)};
}

std::vector<double> to_vector(const at::Tensor& row) {
  const at::Tensor flat = row.contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// Mean 2-norm of each pair's chunk, [head][pair].
PerLayer chunk_norms(const Channels& x) {
  const at::Tensor norms_HP = at::hypot(x.re, x.im).mean(at::IntArrayRef{0, 2});
  PerLayer out;
  for (int64_t h = 0; h < norms_HP.size(0); ++h) {
    out.push_back(to_vector(norms_HP[h]));
  }
  return out;
}

std::vector<double> mean_over_heads(const PerLayer& heads) {
  std::vector<double> mean(heads.front().size(), 0.0);
  for (const std::vector<double>& head : heads) {
    for (size_t m = 0; m < mean.size(); ++m) {
      mean[m] += head[m] / static_cast<double>(heads.size());
    }
  }
  return mean;
}

/// A_m per query head and pair: mean over windows and i >= j of z_q(i) conj(z_k(j)).
std::vector<std::vector<Complex>> content_means(const Channels& q, const Channels& k_G) {
  const int64_t B = q.re.size(0), T = q.re.size(2), repeat = q.re.size(1) / k_G.re.size(1);
  // sum over j <= i first: linear in T
  const at::Tensor kre = k_G.re.cumsum(2).repeat_interleave(repeat, 1);
  const at::Tensor kim = k_G.im.cumsum(2).repeat_interleave(repeat, 1);
  const double pairs = 0.5 * static_cast<double>(B * T * (T + 1));
  const at::IntArrayRef over{0, 2};
  const at::Tensor re_HP = (q.re * kre + q.im * kim).sum(over) / pairs;
  const at::Tensor im_HP = (q.im * kre - q.re * kim).sum(over) / pairs;
  std::vector<std::vector<Complex>> out;
  for (int64_t h = 0; h < re_HP.size(0); ++h) {
    const std::vector<double> re = to_vector(re_HP[h]), im = to_vector(im_HP[h]);
    auto& row = out.emplace_back();
    for (size_t m = 0; m < re.size(); ++m) {
      row.emplace_back(re[m], im[m]);
    }
  }
  return out;
}

/// One layer's bands: A_m with the logit scale, and theta, per head.
struct LayerBands {
  std::vector<std::vector<Complex>> content;  // [head][pair]
  std::vector<std::vector<double>> theta;     // [head][pair]; 0 = not rotated
  size_t heads() const { return content.size(); }
  double at(size_t h, size_t m, double distance) const {
    return std::real(content[h][m] * std::polar(1.0, distance * theta[h][m]));
  }
};

LayerBands layer_bands(const Channels& q, const Channels& k, const position::PositionPlan& plan,
                       const position::LayerPlan& layer, const Frequencies& inv_freq) {
  LayerBands bands;
  bands.content = content_means(q, k);
  const double scale = layer.amplitude * layer.amplitude * layer.logit_scale /
                       std::sqrt(static_cast<double>(plan.head_dim));
  for (size_t h = 0; h < bands.content.size(); ++h) {
    for (Complex& content : bands.content[h]) {
      content *= scale;
    }
    const size_t heads_per_group = inv_freq.empty() ? 1 : bands.content.size() / inv_freq.size();
    bands.theta.push_back(inv_freq.empty() ? std::vector<double>(bands.content[h].size(), 0.0)
                                           : inv_freq[h / heads_per_group]);
  }
  return bands;
}

struct Extent {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void add(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  double range() const { return high - low; }
};

/// Range of C_m over distances 0 .. length - 1, [head][pair].
PerLayer ranges(const LayerBands& bands, int64_t length) {
  PerLayer out;
  for (size_t h = 0; h < bands.heads(); ++h) {
    auto& row = out.emplace_back();
    for (size_t m = 0; m < bands.content[h].size(); ++m) {
      Extent extent;
      for (int64_t distance = 0; distance < length; ++distance) {
        extent.add(bands.at(h, m, static_cast<double>(distance)));
      }
      row.push_back(bands.theta[h][m] == 0.0 ? 0.0 : extent.range());
    }
  }
  return out;
}

/// Sum of all bands of a head but `without` at a distance.
double others(const LayerBands& bands, size_t h, size_t without, double distance) {
  double sum = 0.0;
  for (size_t m = 0; m < bands.content[h].size(); ++m) {
    sum += m == without || bands.theta[h][m] == 0.0 ? 0.0 : bands.at(h, m, distance);
  }
  return sum;
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
    theta = mean_over_heads(inv_freq);
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
double strongest_wavelength(const std::vector<LayerBands>& layers,
                            const std::vector<PerLayer>& head_ranges, size_t m) {
  double best = -1.0, theta = 0.0;
  for (size_t n = 0; n < layers.size(); ++n) {
    for (size_t h = 0; h < layers[n].heads(); ++h) {
      if (head_ranges[n][h][m] > best) {
        best = head_ranges[n][h][m];
        theta = layers[n].theta[h][m];
      }
    }
  }
  return position::wavelength_tokens(theta);
}

void find_dominant(BandReport& out, const std::vector<LayerBands>& layers,
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

void add_curves(BandReport& out, const std::vector<LayerBands>& layers, size_t dominant) {
  for (const LayerBands& layer : layers) {
    auto& first = out.curve_dominant.emplace_back();
    auto& rest = out.curve_others.emplace_back();
    const auto heads = static_cast<double>(layer.heads());
    for (const int64_t distance : out.distance) {
      const auto x = static_cast<double>(distance);
      double sum_first = 0.0, sum_rest = 0.0;
      for (size_t h = 0; h < layer.heads(); ++h) {
        sum_first += layer.theta[h][dominant] == 0.0 ? 0.0 : layer.at(h, dominant, x);
        sum_rest += others(layer, h, dominant, x);
      }
      first.push_back(sum_first / heads);
      rest.push_back(sum_rest / heads);
    }
  }
}

double cancellation(const std::vector<LayerBands>& layers, const std::vector<PerLayer>& head_ranges,
                    size_t dominant, int64_t length) {
  double of_sum = 0.0, sum_of = 0.0;
  for (size_t n = 0; n < layers.size(); ++n) {
    for (size_t h = 0; h < layers[n].heads(); ++h) {
      Extent extent;
      for (int64_t distance = 0; distance < length; ++distance) {
        extent.add(others(layers[n], h, dominant, static_cast<double>(distance)));
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

std::optional<BandReport> analyze_bands(const model::Capture& capture,
                                        const position::PositionPlan& plan,
                                        const std::vector<Frequencies>& inv_freq,
                                        int64_t train_length) {
  if (!rotates(inv_freq)) {
    return std::nullopt;
  }
  const c10::NoGradGuard no_grad;
  BandReport out;
  std::vector<LayerBands> layers;
  std::vector<PerLayer> head_ranges;
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    const Channels q = channels(capture.q[n], plan), k = channels(capture.k[n], plan);
    out.q_norm_heads.push_back(chunk_norms(q));
    out.k_norm_heads.push_back(chunk_norms(k));
    out.q_norm.push_back(mean_over_heads(out.q_norm_heads.back()));
    out.k_norm.push_back(mean_over_heads(out.k_norm_heads.back()));
    out.wavelength.push_back(mean_wavelengths(inv_freq[n], plan.n_pairs()));
    layers.push_back(layer_bands(q, k, plan, plan.layers[n], inv_freq[n]));
    head_ranges.push_back(ranges(layers.back(), train_length));
    out.contribution.push_back(mean_over_heads(head_ranges.back()));
  }
  classify_pairs(out, inv_freq, plan.n_pairs(), train_length);
  find_dominant(out, layers, head_ranges, train_length);
  if (out.dominant) {
    const auto band = static_cast<size_t>(out.dominant->band);
    out.distance = log_grid(4 * train_length);
    add_curves(out, layers, band);
    out.cancellation = cancellation(layers, head_ranges, band, train_length);
  }
  return out;
}

}  // namespace gyre::evaluate
