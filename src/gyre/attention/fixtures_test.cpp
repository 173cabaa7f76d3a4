// Bodies of fixtures.h; the name puts it into the test program only.
#include "gyre/attention/fixtures.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>

#include <cmath>
#include <limits>

namespace gyre::attention::testing {
namespace {

at::Tensor draw(at::IntArrayRef sizes, at::Generator& generator, at::ScalarType dtype) {
  return at::randn(sizes, generator, at::kDouble).to(dtype);
}

// The two channels of every pair, [B, H, T, P] each.
std::pair<at::Tensor, at::Tensor> pairs_of(const at::Tensor& x, int64_t n_pairs,
                                           position::PairLayout layout) {
  if (layout == position::PairLayout::Halves) {
    return {x.narrow(3, 0, n_pairs), x.narrow(3, n_pairs, n_pairs)};
  }
  return {x.slice(3, 0, 2 * n_pairs, 2), x.slice(3, 1, 2 * n_pairs, 2)};
}

at::Tensor join_pairs(const at::Tensor& x, const at::Tensor& y, position::PairLayout layout) {
  return layout == position::PairLayout::Halves ? at::cat({x, y}, 3)
                                                : at::stack({x, y}, 4).flatten(3);
}

// [1, H, T, S] of -slope * distance, -inf where the mask hides.
at::Tensor dense_bias(int64_t H, int64_t T, int64_t S, const position::LayerPlan& layer) {
  at::Tensor bias = at::empty({1, H, T, S}, at::kDouble);
  auto a = bias.accessor<double, 4>();
  for (int64_t h = 0; h < H; ++h) {
    for (int64_t t = 0; t < T; ++t) {
      for (int64_t j = 0; j < S; ++j) {
        const int64_t i = S - T + t;
        const double slope = layer.slopes.empty() ? 0.0 : layer.slopes[static_cast<size_t>(h)];
        a[0][h][t][j] = layer.mask.sees(i, j) ? -slope * static_cast<double>(i - j)
                                              : -std::numeric_limits<double>::infinity();
      }
    }
  }
  return bias;
}

}  // namespace

OneThread::OneThread() : before_(at::get_num_threads()) {
  at::set_num_threads(1);
}
OneThread::~OneThread() {
  at::set_num_threads(before_);
}

Batch random_batch(const Shape& s, uint64_t seed, at::ScalarType dtype) {
  auto generator = at::make_generator<at::CPUGeneratorImpl>(seed);
  return {
      draw({s.B, s.H, s.T, s.D}, generator, dtype), draw({s.B, s.G, s.S, s.D}, generator, dtype),
      draw({s.B, s.G, s.S, s.D}, generator, dtype), draw({s.B, s.H, s.T, s.D}, generator, dtype)};
}

ReferenceTensor to_reference(const at::Tensor& x) {
  const at::Tensor dense = x.detach().to(at::kDouble).contiguous();
  const auto* data = dense.const_data_ptr<double>();
  return {x.size(0), x.size(1), x.size(2), x.size(3), {data, data + dense.numel()}};
}

at::Tensor from_reference(const ReferenceTensor& x) {
  return at::tensor(x.values, at::kDouble).view({x.n_batch, x.n_heads, x.n_tokens, x.head_dim});
}

ReferenceInput reference_input(const Batch& batch, const position::LayerPlan& layer,
                               position::PairLayout layout, int64_t origin) {
  ReferenceInput input{
      to_reference(batch.q), to_reference(batch.k), to_reference(batch.v), {}, {}, layout, layer};
  const int64_t T = batch.q.size(2), S = batch.k.size(2);
  for (int64_t j = 0; j < S; ++j) {
    input.k_positions.push_back(origin + j);
    if (j >= S - T) {
      input.q_positions.push_back(origin + j);
    }
  }
  return input;
}

at::Tensor theta_tensor(const std::vector<std::vector<double>>& inv_freq) {
  std::vector<at::Tensor> rows;
  for (const auto& bands : inv_freq) {
    rows.push_back(at::tensor(bands, at::kDouble));
  }
  return at::stack(rows);
}

at::Tensor composite_rotate(const at::Tensor& x, const at::Tensor& theta,
                            const at::Tensor& positions, position::PairLayout layout,
                            double amplitude) {
  const int64_t n_pairs = theta.size(1);
  const at::Tensor angle = positions.to(at::kDouble).view({1, -1, 1}) * theta.unsqueeze(1);
  const at::Tensor per_head =
      angle.repeat_interleave(x.size(1) / theta.size(0), 0).unsqueeze(0);  // [1, H, T, P]
  const at::Tensor c = (amplitude * per_head.cos()).to(x.scalar_type());
  const at::Tensor s = (amplitude * per_head.sin()).to(x.scalar_type());
  const auto [a, b] = pairs_of(x, n_pairs, layout);
  return at::cat({join_pairs(a * c - b * s, a * s + b * c, layout), x.slice(3, 2 * n_pairs)}, 3);
}

at::Tensor composite_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const position::LayerPlan& layer) {
  const int64_t repeats = q.size(1) / k.size(1);
  const at::Tensor keys = k.repeat_interleave(repeats, 1), values = v.repeat_interleave(repeats, 1);
  const double scale = layer.logit_scale / std::sqrt(static_cast<double>(q.size(3)));
  const at::Tensor bias = dense_bias(q.size(1), q.size(2), k.size(2), layer).to(q.scalar_type());
  at::Tensor scores = at::matmul(q, keys.transpose(2, 3)) * scale;
  if (layer.score_cap != 0.0) {
    scores = at::tanh(scores / layer.score_cap) * layer.score_cap;
  }
  return at::matmul(at::softmax(scores + bias, 3), values);
}

at::Tensor torch_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const position::LayerPlan& layer) {
  const int64_t repeats = q.size(1) / k.size(1);
  const double scale = layer.logit_scale / std::sqrt(static_cast<double>(q.size(3)));
  const at::Tensor bias = dense_bias(q.size(1), q.size(2), k.size(2), layer).to(q.scalar_type());
  return at::scaled_dot_product_attention(q, k.repeat_interleave(repeats, 1),
                                          v.repeat_interleave(repeats, 1), bias, 0.0, false, scale);
}

double max_difference(const at::Tensor& a, const at::Tensor& b) {
  return (a.detach().to(at::kDouble) - b.detach().to(at::kDouble)).abs().max().item<double>();
}

void expect_near(const at::Tensor& actual, const at::Tensor& expected, double atol, double rtol,
                 const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  const at::Tensor a = actual.detach().to(at::kDouble).contiguous().view(-1);
  const at::Tensor e = expected.detach().to(at::kDouble).contiguous().view(-1);
  for (int64_t i = 0; i < a.numel(); ++i) {
    const double x = a.const_data_ptr<double>()[i], y = e.const_data_ptr<double>()[i];
    ASSERT_LE(std::abs(x - y), atol + rtol * std::abs(y))
        << what << " element " << i << " of " << actual.sizes() << ": " << x << " instead of " << y;
  }
}

void expect_value_error(const std::function<void()>& act, const std::string& text) {
  try {
    act();
    FAIL() << "no error; expected: " << text;
  } catch (const c10::ValueError& e) {
    EXPECT_NE(std::string(e.what_without_backtrace()).find(text), std::string::npos)
        << e.what_without_backtrace();
  }
}

}  // namespace gyre::attention::testing
