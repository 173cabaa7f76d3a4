#include "gyre/analyze/layer_meter.h"

#include <ATen/ops/hypot.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>

#include "gyre/analyze/attention_meter.h"
#include "gyre/analyze/row_attention.h"
#include "gyre/evaluate/band_content.h"

namespace gyre::analyze {
namespace {

at::Tensor row_of(const at::Tensor& x, int64_t b) {
  return x.narrow(0, b, 1).to(at::kCPU, at::kFloat).contiguous();
}

void add_to(Matrix& sum, const Matrix& part, double weight) {
  sum.resize(part.size());
  for (size_t r = 0; r < part.size(); ++r) {
    sum[r].resize(part[r].size(), 0.0);
    for (size_t c = 0; c < part[r].size(); ++c) {
      sum[r][c] += weight * part[r][c];
    }
  }
}

/// Mean 2-norm of the channels outside pairs, taken in twos; NaN when there are none.
double rest_norm(const at::Tensor& x_BHTD, int64_t rotary_dim) {
  const int64_t n = (x_BHTD.size(-1) - rotary_dim) / 2;
  if (n == 0) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const at::Tensor twos = x_BHTD.narrow(-1, rotary_dim, 2 * n).unflatten(-1, {n, 2});
  return at::hypot(twos.select(-1, 0), twos.select(-1, 1)).mean().item<double>();
}

/// Norms of one text row, added to the record.
struct NormSum {
  Matrix& rows;
  Matrix& heads;
  double& rest;
  void add(const at::Tensor& x, const evaluate::Channels& parts, int64_t rotary_dim,
           double weight) {
    const Matrix norms = evaluate::chunk_norms(parts);
    rows.push_back(evaluate::mean_over_rows(norms));
    add_to(heads, norms, weight);
    rest += weight * rest_norm(x, rotary_dim);
  }
};

std::vector<double> mean_wavelengths(const evaluate::Frequencies& inv_freq, int64_t n_pairs) {
  std::vector<double> theta(static_cast<size_t>(n_pairs), 0.0);
  if (!inv_freq.empty()) {
    theta = evaluate::mean_over_rows(inv_freq);
  }
  for (double& each : theta) {
    each = position::wavelength_tokens(each);
  }
  return theta;
}

void add_content(LayerRecord& record, const evaluate::LayerBands& bands, double weight) {
  record.content.resize(bands.content.size());
  for (size_t h = 0; h < bands.content.size(); ++h) {
    record.content[h].resize(bands.content[h].size());
    for (size_t m = 0; m < bands.content[h].size(); ++m) {
      record.content[h][m] += weight * bands.content[h][m];
    }
  }
}

}  // namespace

LayerMeter::LayerMeter(const Subject& subject, const Rows& rows)
    : subject_(subject),
      rows_(rows),
      targets_(make_targets(rows)),
      inv_freq_(subject.model.current_inv_freq()) {}

const at::Tensor& LayerMeter::visible(const position::MaskSpec& mask) {
  for (const auto& [known, keys] : masks_) {
    if (known == mask) {
      return keys;
    }
  }
  return masks_.emplace_back(mask, visible_keys(mask, rows_.length())).second;
}

LayerRecord LayerMeter::measure(int64_t n, const at::Tensor& q, const at::Tensor& k,
                                const at::Tensor& v) {
  const c10::NoGradGuard no_grad;
  const position::PositionPlan& plan = subject_.model.plan();
  const position::LayerPlan& layer = plan.layers[static_cast<size_t>(n)];
  const evaluate::Frequencies& inv_freq = inv_freq_[static_cast<size_t>(n)];
  LayerRecord record;
  record.layer = n;
  record.wavelength = mean_wavelengths(inv_freq, plan.n_pairs());
  AttentionMeter attention(subject_, rows_, targets_, n, visible(layer.mask));
  const double share = 1.0 / static_cast<double>(rows_.n_text);
  for (int64_t b = 0; b < q.size(0); ++b) {
    const at::Tensor row_q = row_of(q, b), row_k = row_of(k, b);
    if (b < rows_.n_text) {
      const at::Tensor row_v = row_of(v, b);
      const auto q_parts = evaluate::channels(row_q, plan),
                 k_parts = evaluate::channels(row_k, plan);
      NormSum{record.q_rows, record.q_heads, record.q_rest}.add(row_q, q_parts, plan.rotary_dim,
                                                                share);
      NormSum{record.k_rows, record.k_heads, record.k_rest}.add(row_k, k_parts, plan.rotary_dim,
                                                                share);
      NormSum{record.v_rows, record.v_heads, record.v_rest}.add(
          row_v, evaluate::channels(row_v, plan), plan.rotary_dim, share);
      add_content(record, evaluate::layer_bands(q_parts, k_parts, plan, layer, inv_freq), share);
    }
    attention.add_row(b, row_q, row_k);
  }
  attention.fill(record);
  return record;
}

}  // namespace gyre::analyze
