// Rows of doubles to tensors and back, around the subject's operations.
#include "gyre/verify/probe.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cstring>
#include <numbers>

#include "gyre/base/rng.h"

namespace gyre::verify {
namespace {

constexpr at::ScalarType dtype_of(Precision precision) {
  return precision == Precision::F64   ? at::kDouble
         : precision == Precision::F32 ? at::kFloat
                                       : at::kBFloat16;
}

at::Tensor to_tensor(const Rows& rows, Precision precision = Precision::F64) {
  at::Tensor out = at::empty({rows.n_batch, rows.n_heads, rows.n_tokens, rows.head_dim},
                             at::TensorOptions().dtype(at::kDouble));
  std::memcpy(out.mutable_data_ptr(), rows.values.data(), rows.values.size() * sizeof(double));
  return out.to(dtype_of(precision));
}

Rows to_rows(const at::Tensor& tensor) {
  const at::Tensor x = tensor.detach().to(at::kDouble).contiguous();
  Rows rows{x.size(0), x.size(1), x.size(2), x.size(3), {}};
  const auto* begin = x.const_data_ptr<double>();
  rows.values.assign(begin, begin + x.numel());
  return rows;
}

std::vector<std::vector<double>> to_lists(const at::Tensor& table_TP) {
  const at::Tensor x = table_TP.to(at::kDouble).contiguous();
  std::vector<std::vector<double>> out;
  for (int64_t t = 0; t < x.size(0); ++t) {
    const double* row = x.const_data_ptr<double>() + t * x.size(1);
    out.emplace_back(row, row + x.size(1));
  }
  return out;
}

}  // namespace

Rows zero_rows(const Shape& s) {
  return {s.B, s.H, s.T, s.D, std::vector<double>(static_cast<size_t>(s.B * s.H * s.T * s.D))};
}

Rows normal_rows(const std::string& stream, const Shape& shape) {
  Rows rows = zero_rows(shape);
  Rng rng(20241, stream);
  for (size_t i = 0; i < rows.values.size(); i += 2) {  // Box and Muller
    const double radius = std::sqrt(-2.0 * std::log(1.0 - rng.uniform()));
    const double angle = 2.0 * std::numbers::pi * rng.uniform();
    rows.values[i] = radius * std::cos(angle);
    if (i + 1 < rows.values.size()) {
      rows.values[i + 1] = radius * std::sin(angle);
    }
  }
  return rows;
}

Rows repeated(const std::vector<double>& row, int64_t n_tokens) {
  Rows rows{1, 1, n_tokens, static_cast<int64_t>(row.size()), {}};
  for (int64_t t = 0; t < n_tokens; ++t) {
    rows.values.insert(rows.values.end(), row.begin(), row.end());
  }
  return rows;
}

std::vector<int64_t> count_from(int64_t first, int64_t n) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; ++i) {
    out.push_back(first + i);
  }
  return out;
}

std::vector<double> geometric(double base, int64_t n_pairs, int64_t width) {
  std::vector<double> out;
  for (int64_t m = 0; m < n_pairs; ++m) {
    out.push_back(std::pow(base, -2.0 * static_cast<double>(m) / static_cast<double>(width)));
  }
  return out;
}

position::PositionPlan plan_of(const std::vector<double>& inv_freq, int64_t head_dim,
                               position::PairLayout layout) {
  position::PositionPlan plan;
  plan.layout = layout;
  plan.head_dim = head_dim;
  plan.rotary_dim = 2 * static_cast<int64_t>(inv_freq.size());
  plan.layers.emplace_back();
  if (!inv_freq.empty()) {
    plan.layers[0].inv_freq = {inv_freq};
  }
  return plan;
}

position::PlanRequest request_of(int64_t head_dim, int64_t n_heads, int64_t n_kv_heads) {
  position::PlanRequest request;
  request.head_dim = head_dim;
  request.n_heads = n_heads;
  request.n_kv_heads = n_kv_heads;
  request.train_length = 2048;
  request.layout = position::PairLayout::Halves;  // identities of pairing set the other one too
  return request;
}

double exact_cos(double theta, int64_t delta) {
  return static_cast<double>(
      std::cos(static_cast<long double>(delta) * static_cast<long double>(theta)));
}

double exact_sin(double theta, int64_t delta) {
  return static_cast<double>(
      std::sin(static_cast<long double>(delta) * static_cast<long double>(theta)));
}

int64_t x_channel(const position::PositionPlan& plan, int64_t m) {
  return plan.layout == position::PairLayout::Interleaved ? 2 * m : m;
}

int64_t y_channel(const position::PositionPlan& plan, int64_t m) {
  return plan.layout == position::PairLayout::Interleaved ? 2 * m + 1 : m + plan.n_pairs();
}

Turned rotated(const Subject& subject, const Turned& raw, const std::vector<int64_t>& positions,
               const position::PositionPlan& plan, int64_t layer, Precision precision) {
  const auto table = subject.table(plan, layer, positions, precision == Precision::F64);
  const auto [q, k] =
      subject.rotate(to_tensor(raw.q, precision), to_tensor(raw.k, precision), table);
  return {to_rows(q), to_rows(k)};
}

Rows attended(const Subject& subject, const Keyed& in, const position::LayerPlan& layer,
              Precision precision) {
  return to_rows(subject.attention(to_tensor(in.q, precision), to_tensor(in.k, precision),
                                   to_tensor(in.v, precision), layer));
}

Rows weights_of(const Subject& subject, const Turned& in, const position::LayerPlan& layer) {
  const int64_t S = in.k.n_tokens, D = in.k.head_dim;
  Rows weights = zero_rows({in.q.n_batch, in.q.n_heads, in.q.n_tokens, S});
  const at::Tensor q = to_tensor(in.q), k = to_tensor(in.k);
  for (int64_t first = 0; first < S; first += D) {
    Rows v = zero_rows({in.k.n_batch, in.k.n_heads, S, D});
    const int64_t n = std::min(D, S - first);
    for (int64_t row = 0; row < in.k.n_batch * in.k.n_heads; ++row) {
      for (int64_t c = 0; c < n; ++c) {
        v.values[static_cast<size_t>((row * S + first + c) * D + c)] = 1.0;
      }
    }
    const Rows part = to_rows(subject.attention(q, k, to_tensor(v), layer));
    for (int64_t row = 0; row < in.q.n_batch * in.q.n_heads * in.q.n_tokens; ++row) {
      for (int64_t c = 0; c < n; ++c) {
        weights.values[static_cast<size_t>(row * S + first + c)] =
            part.values[static_cast<size_t>(row * D + c)];
      }
    }
  }
  return weights;
}

std::vector<std::vector<double>> dots(const Rows& q, const Rows& k) {
  std::vector<std::vector<double>> out;
  for (int64_t i = 0; i < q.n_tokens; ++i) {
    std::vector<double> row;
    for (int64_t j = 0; j < k.n_tokens; ++j) {
      double sum = 0.0;
      for (int64_t d = 0; d < q.head_dim; ++d) {
        sum += q.at(0, 0, i, d) * k.at(0, 0, j, d);
      }
      row.push_back(sum);
    }
    out.push_back(std::move(row));
  }
  return out;
}

double max_difference(const Rows& a, const Rows& b) {
  if (a.values.size() != b.values.size()) {
    return NAN;
  }
  double worst = 0.0;
  for (size_t i = 0; i < a.values.size(); ++i) {
    const double difference = std::abs(a.values[i] - b.values[i]);
    worst = std::isnan(difference) ? NAN : std::max(worst, difference);
  }
  return worst;
}

TableRows table_rows(const Subject& subject, const position::PositionPlan& plan,
                     const std::vector<int64_t>& positions, bool exact) {
  const auto rotation = subject.table(plan, 0, positions, exact);
  return {to_lists(rotation.cos[0]), to_lists(rotation.sin[0])};
}

Differentiated differentiate(const Subject& subject, const Keyed& raw, const Rows& weight,
                             const std::vector<int64_t>& positions,
                             const position::PositionPlan& plan) {
  attention::Rotation table = subject.table(plan, 0, positions, true);
  table.theta = table.theta.detach().clone().set_requires_grad(true);
  const at::Tensor q = to_tensor(raw.q).set_requires_grad(true);
  const at::Tensor k = to_tensor(raw.k).set_requires_grad(true);
  const auto [q_turned, k_turned] = subject.rotate(q, k, table);
  const at::Tensor out = subject.attention(q_turned, k_turned, to_tensor(raw.v), plan.layers[0]);
  const auto grads =
      torch::autograd::grad({(out * to_tensor(weight)).sum()}, {table.theta, q_turned, k_turned});
  const at::Tensor theta = grads[0][0].contiguous();
  const auto* begin = theta.const_data_ptr<double>();
  return {{begin, begin + theta.numel()},
          to_rows(q_turned),
          to_rows(k_turned),
          to_rows(grads[1]),
          to_rows(grads[2])};
}

CheckResult Tally::result(std::string note, std::vector<Curve> curves) const {
  CheckResult result;
  result.passed = ratio_ >= 0.0 && ratio_ <= 1.0;
  result.worst = worst_;
  result.tolerance = tolerance_;
  result.where = where_;
  result.note = std::move(note);
  result.curves = std::move(curves);
  return result;
}

}  // namespace gyre::verify
