#include "gyre/analyze/spectrum.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <numbers>

#include "gyre/analyze/offset_signal.h"
#include "gyre/analyze/row_attention.h"
#include "gyre/attention/rotation.h"
#include "gyre/base/error.h"
#include "gyre/model/forward_pass.h"

namespace gyre::analyze {
namespace {

constexpr size_t kDrawnPairs = 8;
constexpr size_t kDrawnTables = 4;
constexpr int kGrid = 400;

/// What one layer's attention leaves behind for the gradient.
struct LayerTrace {
  at::Tensor theta;  // [G, P] float64, a leaf
  at::Tensor nudge;  // [B, H, T, T] float64 zeros, a leaf: its gradient is G
  at::Tensor q, k;   // rotated, float64
  double scale = 0.0;
};

/// Attention in double with plain operators, whose logits and frequencies take gradients.
class TracedAttention {
 public:
  explicit TracedAttention(const model::Transformer& model)
      : model_(model), traces_(model.plan().layers.size()) {}

  at::Tensor operator()(int64_t n, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
    const position::PositionPlan& plan = model_.plan();
    const position::LayerPlan& layer = plan.layers[static_cast<size_t>(n)];
    LayerTrace& trace = traces_[static_cast<size_t>(n)];
    const int64_t B = q.size(0), H = q.size(1), T = q.size(2), repeat = H / k.size(1);
    trace.theta = model::layer_theta(model_, n);
    if (trace.theta.defined()) {
      trace.theta = trace.theta.detach().clone().set_requires_grad(true);
    }
    const auto rotation = attention::make_rotation(trace.theta, at::arange(T, at::kLong),
                                                   plan.layout, layer, at::kDouble);
    trace.q = q.to(at::kDouble).contiguous();
    trace.k = k.to(at::kDouble).contiguous();
    if (!rotation.identity()) {
      std::tie(trace.q, trace.k) = attention::rotate(trace.q, trace.k, rotation);
    }
    trace.scale = logit_scale(layer, q.size(-1));
    trace.nudge = at::zeros({B, H, T, T}, at::kDouble).set_requires_grad(true);
    const at::Tensor keys = trace.k.repeat_interleave(repeat, 1);
    at::Tensor scores = at::matmul(trace.q, keys.transpose(-2, -1)) * trace.scale + trace.nudge;
    if (layer.score_cap != 0.0) {
      scores = at::tanh(scores / layer.score_cap) * layer.score_cap;
    }
    if (!layer.slopes.empty()) {
      const at::Tensor at_i = at::arange(T, at::kDouble);
      scores = scores + at::tensor(layer.slopes, at::kDouble).view({-1, 1, 1}) *
                            (at_i.unsqueeze(0) - at_i.unsqueeze(1));
    }
    const at::Tensor weights = scores
                                   .masked_fill(visible_keys(layer.mask, T).logical_not(),
                                                -std::numeric_limits<double>::infinity())
                                   .softmax(-1);
    const at::Tensor values = v.to(at::kDouble).repeat_interleave(repeat, 1);
    return at::matmul(weights, values).to(q.scalar_type());
  }

  std::vector<LayerTrace>& traces() { return traces_; }

 private:
  const model::Transformer& model_;
  std::vector<LayerTrace> traces_;
};

/// Signal and gradient of one table of frequencies, summed over layers and heads that share it.
struct Shared {
  std::vector<int64_t> layers;
  int64_t group = -1;           // kv head, when a layer has a table for each
  at::Tensor signal, gradient;  // [2, P, T], [P]
};

using Tables = std::vector<std::pair<std::vector<double>, Shared>>;

Shared& table_of(Tables& tables, const std::vector<double>& theta) {
  for (auto& [known, shared] : tables) {
    if (known == theta) {
      return shared;
    }
  }
  return tables.emplace_back(theta, Shared()).second;
}

void add_layer(Tables& tables, const model::Transformer& model, int64_t n,
               const LayerTrace& trace) {
  const at::Tensor signal = offset_signal(trace.nudge.grad(), trace.q.detach(), trace.k.detach(),
                                          trace.theta, model.plan(), trace.scale);
  const at::Tensor gradient = trace.theta.grad();
  const int64_t groups = trace.theta.size(0);
  for (int64_t g = 0; g < groups; ++g) {
    const at::Tensor row = trace.theta.detach()[g].contiguous();
    const double* theta = row.const_data_ptr<double>();
    Shared& shared = table_of(tables, {theta, theta + row.numel()});
    const at::Tensor mine = groups == 1 ? signal.sum(1) : signal.select(1, g);
    shared.signal = shared.signal.defined() ? shared.signal + mine : mine;
    shared.gradient = shared.gradient.defined() ? shared.gradient + gradient[g] : gradient[g];
    shared.group = groups == 1 ? -1 : g;
    if (shared.layers.empty() || shared.layers.back() != n) {
      shared.layers.push_back(n);
    }
  }
}

std::string layers_text(const Shared& shared) {
  std::string out;
  for (size_t i = 0; i < shared.layers.size();) {
    size_t end = i;
    while (end + 1 < shared.layers.size() && shared.layers[end + 1] == shared.layers[end] + 1) {
      ++end;
    }
    out += (out.empty() ? "" : ", ") + std::to_string(shared.layers[i]) +
           (end > i ? "-" + std::to_string(shared.layers[end]) : "");
    i = end + 1;
  }
  return shared.group < 0 ? out : str(out, " head ", shared.group);
}

std::vector<double> row_vector(const at::Tensor& row) {
  const at::Tensor flat = row.contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

std::complex<double> transform(const std::vector<double>& re, const std::vector<double>& im,
                               double x) {
  std::complex<double> sum;
  for (size_t d = 0; d < re.size(); ++d) {
    sum += std::complex(re[d], im[d]) * std::polar(1.0, static_cast<double>(d) * x);
  }
  return sum;
}

/// P'(x) = Re sum_d i d A[d] e^{i d x}.
double slope_at(const std::vector<double>& re, const std::vector<double>& im, double x) {
  double sum = 0.0;
  for (size_t d = 0; d < re.size(); ++d) {
    const auto distance = static_cast<double>(d);
    sum -= distance * std::imag(std::complex(re[d], im[d]) * std::polar(1.0, distance * x));
  }
  return sum;
}

/// Frequencies from a tenth of the slowest that turns within the row to pi, evenly in the
/// logarithm.
std::vector<double> frequency_grid(size_t n_tokens) {
  const double low = 0.1 * 2.0 * std::numbers::pi / static_cast<double>(n_tokens);
  std::vector<double> grid;
  for (int i = 0; i < kGrid; ++i) {
    grid.push_back(low * std::pow(std::numbers::pi / low, i / static_cast<double>(kGrid - 1)));
  }
  return grid;
}

void add_curves(SpectrumPair& pair, const std::vector<double>& re, const std::vector<double>& im) {
  pair.re = re;
  pair.im = im;
  pair.grid = frequency_grid(re.size());
  for (const double x : pair.grid) {
    pair.value.push_back(transform(re, im, x).real());
  }
}

SpectrumTable make_table(const std::vector<double>& theta, const Shared& shared, bool drawn) {
  SpectrumTable table;
  table.layers = layers_text(shared);
  const std::vector<double> gradient = row_vector(shared.gradient);
  const size_t step = std::max<size_t>(1, theta.size() / kDrawnPairs);
  for (size_t m = 0; m < theta.size(); ++m) {
    const auto index = static_cast<int64_t>(m);
    const std::vector<double> re = row_vector(shared.signal[0][index]);
    const std::vector<double> im = row_vector(shared.signal[1][index]);
    SpectrumPair pair;
    pair.pair = index;
    pair.theta = theta[m];
    pair.gradient = gradient[m];
    pair.slope = slope_at(re, im, theta[m]);
    if (drawn && m % step == 0) {
      add_curves(pair, re, im);
    }
    table.pairs.push_back(std::move(pair));
  }
  return table;
}

double worst_of(const SpectrumTable& table) {
  double largest = 0.0, worst = 0.0;
  for (const SpectrumPair& pair : table.pairs) {
    largest = std::max(largest, std::abs(pair.gradient));
    worst = std::max(worst, std::abs(pair.gradient - pair.slope));
  }
  return largest > 0.0 ? worst / largest : worst;
}

}  // namespace

Spectrum measure_spectrum(const Subject& subject, const Rows& rows, const AnalyzeOptions& options) {
  const int64_t T = std::min(options.spectrum_tokens, rows.length() - 1);
  const at::Tensor tokens = rows.tokens.narrow(0, 0, 1).narrow(1, 0, T).contiguous();
  const at::Tensor targets = rows.tokens.narrow(0, 0, 1).narrow(1, 1, T);
  TracedAttention attention(subject.model);
  const c10::AutoGradMode with_grad(true);
  const auto attend = [&](int64_t n, at::Tensor& q, at::Tensor& k, at::Tensor& v) {
    v = attention(n, q, k, v);
    q = at::Tensor();
  };
  const at::Tensor hidden = subject.model.hidden(tokens, {.tap = attend});
  const at::Tensor log_p = subject.model.project(hidden).log_softmax(-1);
  const at::Tensor loss = -log_p.gather(-1, targets.unsqueeze(-1)).mean();
  std::vector<at::Tensor> leaves;
  for (const LayerTrace& trace : attention.traces()) {
    if (trace.theta.defined()) {
      leaves.push_back(trace.theta);
      leaves.push_back(trace.nudge);
    }
  }
  Spectrum out;
  out.tokens = T;
  out.loss = loss.item<double>();
  if (leaves.empty()) {
    return out;
  }
  loss.backward({}, std::nullopt, false, leaves);  // no gradients of the weights
  Tables tables;
  for (size_t n = 0; n < attention.traces().size(); ++n) {
    if (attention.traces()[n].theta.defined()) {
      add_layer(tables, subject.model, static_cast<int64_t>(n), attention.traces()[n]);
    }
  }
  for (const auto& [theta, shared] : tables) {
    out.tables.push_back(make_table(theta, shared, out.tables.size() < kDrawnTables));
    out.worst = std::max(out.worst, worst_of(out.tables.back()));
  }
  return out;
}

}  // namespace gyre::analyze
