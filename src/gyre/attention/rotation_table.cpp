// Tables of the rotation: angles in double, amplitude and decay folded in, rounded once at the end.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>

#include "gyre/attention/cuda/turning.h"
#include "gyre/attention/rotation.h"
#include "gyre/tensor/parallel.h"

namespace gyre::attention {
namespace {

struct CosSin {
  at::Tensor cos, sin;  // [G, T, P] float64
};

void check(const at::Tensor& theta, const at::Tensor& positions, position::PairLayout layout,
           at::ScalarType dtype) {
  TORCH_CHECK_VALUE(theta.dim() == 2 && theta.scalar_type() == at::kDouble,
                    "make_rotation: theta must be [G, P] float64, got ", theta.sizes(), " ",
                    theta.scalar_type());
  TORCH_CHECK_VALUE(positions.dim() == 1 && positions.scalar_type() == at::kLong,
                    "make_rotation: positions must be [T] int64, got ", positions.sizes(), " ",
                    positions.scalar_type());
  TORCH_CHECK_VALUE(dtype == at::kFloat || dtype == at::kDouble,
                    "make_rotation: a table is float32 or float64, got ", dtype);
  TORCH_CHECK_VALUE(theta.device() == positions.device(), "make_rotation: theta is on ",
                    theta.device(), ", positions on ", positions.device());
  TORCH_CHECK_VALUE(layout != position::PairLayout::Unstated,
                    "rotation: the pair layout is not stated; say halves or interleaved");
}

CosSin angles(const at::Tensor& theta_GP, const at::Tensor& positions_T) {
  const int64_t n_groups = theta_GP.size(0), n_tokens = positions_T.size(0),
                n_pairs = theta_GP.size(1);
  at::Tensor cos = at::empty({n_groups, n_tokens, n_pairs}, at::kDouble);
  at::Tensor sin = at::empty_like(cos);
  const auto* t = theta_GP.const_data_ptr<double>();
  const auto* p = positions_T.const_data_ptr<int64_t>();
  auto *c = cos.mutable_data_ptr<double>(), *s = sin.mutable_data_ptr<double>();
  parallel_for(0, n_groups * n_tokens, 64, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      for (int64_t m = 0; m < n_pairs; ++m) {
        const auto position = static_cast<double>(p[row % n_tokens]);
        const double theta_m = t[row / n_tokens * n_pairs + m];
        // The rounding error of the product, 1e-10 rad at position 10^6, is put back to first
        // order.
        const double angle = position * theta_m;
        const double rest = std::fma(position, theta_m, -angle);
        const double cosine = std::cos(angle), sine = std::sin(angle);
        c[row * n_pairs + m] = cosine - rest * sine;
        s[row * n_pairs + m] = sine + rest * cosine;
      }
    }
  });
  return {cos, sin};
}

// [G, 1, P]: a pair that does not turn is left as it is.
at::Tensor amplitudes(const at::Tensor& theta_GP, double amplitude) {
  at::Tensor out = at::empty({theta_GP.size(0), 1, theta_GP.size(1)}, at::kDouble);
  auto* a = out.mutable_data_ptr<double>();
  const auto* theta = theta_GP.const_data_ptr<double>();
  for (int64_t i = 0; i < theta_GP.numel(); ++i) {
    a[i] = theta[i] == 0.0 ? 1.0 : amplitude;
  }
  return out;
}

// Factor of pair m at every token: amplitude where the pair turns, times exp(sign decay (pos - o)).
at::Tensor factors(const at::Tensor& theta_GP, const at::Tensor& positions_T,
                   const position::LayerPlan& layer, double sign, int64_t origin) {
  const int64_t n_groups = theta_GP.size(0), n_tokens = positions_T.size(0),
                n_pairs = theta_GP.size(1);
  at::Tensor out = at::empty({n_groups, n_tokens, n_pairs}, at::kDouble);
  auto* f = out.mutable_data_ptr<double>();
  const auto* theta = theta_GP.const_data_ptr<double>();
  const auto* p = positions_T.const_data_ptr<int64_t>();
  for (int64_t row = 0; row < n_groups * n_tokens; ++row) {
    const auto distance = static_cast<double>(p[row % n_tokens] - origin);
    for (int64_t m = 0; m < n_pairs; ++m) {
      const bool turns = theta[row / n_tokens * n_pairs + m] != 0.0;
      f[row * n_pairs + m] = (turns ? layer.amplitude : 1.0) *
                             std::exp(sign * layer.decay[static_cast<size_t>(m)] * distance);
    }
  }
  return out;
}

int64_t middle(const at::Tensor& positions_T) {
  const auto* p = positions_T.const_data_ptr<int64_t>();
  const auto [low, high] = std::minmax_element(p, p + positions_T.size(0));
  return positions_T.size(0) == 0 ? 0 : *low + (*high - *low) / 2;
}

// exp(x) of a table and of what it multiplies stay finite and normal up to here.
double largest_exponent(at::ScalarType dtype) {
  return dtype == at::kDouble ? 600.0 : 80.0;
}

void check_decay(const at::Tensor& positions_T, const position::LayerPlan& layer, int64_t origin,
                 int64_t n_pairs, at::ScalarType dtype) {
  TORCH_CHECK_VALUE(static_cast<int64_t>(layer.decay.size()) == n_pairs,
                    "make_rotation: ", layer.decay.size(), " decays for ", n_pairs, " pairs");
  const auto* p = positions_T.const_data_ptr<int64_t>();
  int64_t furthest = 0;
  for (int64_t t = 0; t < positions_T.size(0); ++t) {
    furthest = std::max(furthest, std::abs(p[t] - origin));
  }
  const double steepest = *std::max_element(layer.decay.begin(), layer.decay.end());
  TORCH_CHECK_VALUE(steepest * static_cast<double>(furthest) <= largest_exponent(dtype),
                    "make_rotation: a decay of ", steepest, " nats per token over ", furthest,
                    " tokens leaves the range of ", dtype,
                    "; use shorter sequences or a slower decay");
}

void fold_decay(Rotation& rotation, const CosSin& plain, const position::LayerPlan& layer,
                int64_t origin, at::ScalarType dtype) {
  const at::Tensor bands = rotation.theta.detach();
  check_decay(rotation.positions, layer, origin, bands.size(1), dtype);
  rotation.decay = at::tensor(layer.decay, at::kDouble);
  const at::Tensor of_queries = factors(bands, rotation.positions, layer, -1.0, origin);
  const at::Tensor of_keys = factors(bands, rotation.positions, layer, 1.0, origin);
  rotation.cos = (plain.cos * of_queries).to(dtype);
  rotation.sin = (plain.sin * of_queries).to(dtype);
  rotation.key_cos = (plain.cos * of_keys).to(dtype);
  rotation.key_sin = (plain.sin * of_keys).to(dtype);
}

// 1 + growth ln(1 + floor((i + 1) / floor)).
at::Tensor query_gain(const at::Tensor& positions_T, const position::LayerPlan& layer) {
  at::Tensor out = at::empty({positions_T.size(0)}, at::kDouble);
  const auto* p = positions_T.const_data_ptr<int64_t>();
  auto* gain = out.mutable_data_ptr<double>();
  for (int64_t t = 0; t < positions_T.size(0); ++t) {
    const double step = std::floor(static_cast<double>(p[t] + 1) / layer.query_growth_floor);
    gain[t] = 1.0 + layer.query_growth * std::log1p(step);
  }
  return out;
}

}  // namespace

Rotation make_rotation(const at::Tensor& theta, const at::Tensor& positions,
                       position::PairLayout layout, double amplitude, at::ScalarType dtype) {
  position::LayerPlan layer;
  layer.amplitude = amplitude;
  return make_rotation(theta, positions, layout, layer, dtype);
}

Rotation make_rotation(const at::Tensor& theta, const at::Tensor& positions,
                       position::PairLayout layout, const position::LayerPlan& layer,
                       at::ScalarType dtype, std::optional<int64_t> origin) {
  if (positions.is_cuda()) {
    if (theta.defined()) {
      check(theta, positions, layout, dtype);
    }
    return cuda::make_table(cuda::cuda_backend(), theta, positions, layout, layer, dtype, origin);
  }
  Rotation rotation;
  rotation.layout = layout;
  rotation.amplitude = layer.amplitude;
  rotation.positions = positions.contiguous();
  if (layer.query_growth != 0.0) {
    rotation.query_gain = query_gain(rotation.positions, layer);
  }
  if (!theta.defined()) {
    return rotation;
  }
  check(theta, positions, layout, dtype);
  rotation.theta = theta.contiguous();
  const CosSin plain = angles(rotation.theta.detach(), rotation.positions);
  if (!layer.decay.empty()) {
    fold_decay(rotation, plain, layer, origin.value_or(middle(rotation.positions)), dtype);
    return rotation;
  }
  const at::Tensor amplitude = amplitudes(rotation.theta.detach(), layer.amplitude);
  rotation.cos = rotation.key_cos = (plain.cos * amplitude).to(dtype);
  rotation.sin = rotation.key_sin = (plain.sin * amplitude).to(dtype);
  return rotation;
}

Rotation last_rows(const Rotation& rotation, int64_t n) {
  Rotation out = rotation;
  const auto cut = [n](at::Tensor& x, int64_t dim) {
    x = x.defined() ? x.narrow(dim, x.size(dim) - n, n).contiguous() : x;
  };
  cut(out.positions, 0);
  cut(out.query_gain, 0);
  for (at::Tensor* each : {&out.cos, &out.sin, &out.key_cos, &out.key_sin}) {
    cut(*each, 1);
  }
  return out;
}

}  // namespace gyre::attention
