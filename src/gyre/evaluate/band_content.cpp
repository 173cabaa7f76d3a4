#include "gyre/evaluate/band_content.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cumsum.h>
#include <ATen/ops/hypot.h>
#include <ATen/ops/slice.h>

#include <array>
#include <cmath>

namespace gyre::evaluate {
namespace {

using Complex = std::complex<double>;

constexpr std::array<int64_t, 2> kOverWindowsAndTokens = {0, 2};

std::vector<double> to_vector(const at::Tensor& row) {
  const at::Tensor flat = row.contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// A_m per query head and pair: mean over windows and i >= j of z_q(i) conj(z_k(j)).
std::vector<std::vector<Complex>> content_means(const Channels& q, const Channels& k_G) {
  const int64_t B = q.re.size(0), T = q.re.size(2), repeat = q.re.size(1) / k_G.re.size(1);
  // sum over j <= i first: linear in T
  const at::Tensor kre = k_G.re.cumsum(2).repeat_interleave(repeat, 1);
  const at::Tensor kim = k_G.im.cumsum(2).repeat_interleave(repeat, 1);
  const double pairs = 0.5 * static_cast<double>(B * T * (T + 1));
  const at::Tensor re_HP = (q.re * kre + q.im * kim).sum(kOverWindowsAndTokens) / pairs;
  const at::Tensor im_HP = (q.im * kre - q.re * kim).sum(kOverWindowsAndTokens) / pairs;
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

}  // namespace

Channels channels(const at::Tensor& x_BHTD, const position::PositionPlan& plan) {
  const int64_t R = plan.rotary_dim;
  const at::Tensor x = x_BHTD.to(at::kCPU, at::kDouble).narrow(-1, 0, R);
  if (plan.layout == position::PairLayout::Interleaved) {
    return {x.slice(-1, 0, R, 2), x.slice(-1, 1, R, 2)};
  }
  return {x.narrow(-1, 0, R / 2), x.narrow(-1, R / 2, R / 2)};
}

std::vector<std::vector<double>> chunk_norms(const Channels& x) {
  const at::Tensor norms_HP = at::hypot(x.re, x.im).mean(kOverWindowsAndTokens);
  std::vector<std::vector<double>> out;
  for (int64_t h = 0; h < norms_HP.size(0); ++h) {
    out.push_back(to_vector(norms_HP[h]));
  }
  return out;
}

std::vector<double> mean_over_rows(const std::vector<std::vector<double>>& rows) {
  std::vector<double> mean(rows.front().size(), 0.0);
  for (const std::vector<double>& row : rows) {
    for (size_t m = 0; m < mean.size(); ++m) {
      mean[m] += row[m] / static_cast<double>(rows.size());
    }
  }
  return mean;
}

double LayerBands::contribution(size_t h, size_t m, double distance) const {
  if (theta[h][m] == 0.0) {
    return 0.0;
  }
  const double left = decay.empty() ? 1.0 : std::exp(-decay[m] * distance);
  return left * std::real(content[h][m] * std::polar(1.0, distance * theta[h][m]));
}

double LayerBands::others(size_t h, size_t without, double distance) const {
  double sum = 0.0;
  for (size_t m = 0; m < content[h].size(); ++m) {
    sum += m == without ? 0.0 : contribution(h, m, distance);
  }
  return sum;
}

LayerBands layer_bands(const Channels& q, const Channels& k, const position::PositionPlan& plan,
                       const position::LayerPlan& layer, const Frequencies& inv_freq) {
  LayerBands bands;
  bands.content = content_means(q, k);
  bands.decay = layer.decay;
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

}  // namespace gyre::evaluate
