// Heads of a group are rows of one matrix, so that keys and values are never repeated.
#include "gyre/attention/cuda/plain.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <limits>

#include "gyre/attention/cuda/reach.h"

namespace gyre::attention::cuda {
namespace {

constexpr int64_t kBlock = 256;  // queries

at::ScalarType wide(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

at::Tensor query_rows(const at::Tensor& x, int64_t dim, const Reach& block, int64_t first) {
  const int64_t begin = block.q_begin - first;
  return x.slice(dim, begin, begin + (block.n_queries - 1) * block.step + 1, block.step);
}

at::Tensor range_rows(const at::Tensor& x_BGSD, const Reach& block) {
  const int64_t end = block.k_begin + (block.n_keys - 1) * block.step + 1;
  return x_BGSD.slice(2, block.k_begin, end, block.step);
}

at::Tensor key_rows(const at::Tensor& x_BGSD, const Reach& block) {
  const at::Tensor range = range_rows(x_BGSD, block).to(wide(x_BGSD));
  if (block.n_prefix == 0) {
    return range;
  }
  return at::cat({x_BGSD.narrow(2, 0, block.n_prefix).to(range.scalar_type()), range}, 2);
}

void add_key_rows(at::Tensor& sum_BGSD, const at::Tensor& part, const Reach& block) {
  if (block.n_prefix > 0) {
    sum_BGSD.narrow(2, 0, block.n_prefix).add_(part.narrow(2, 0, block.n_prefix));
  }
  range_rows(sum_BGSD, block).add_(part.narrow(2, block.n_prefix, block.n_keys));
}

// [B, H, n, D] -> [B, G, (H / G) n, D].
at::Tensor grouped(const at::Tensor& x_BHTD, int64_t n_groups) {
  return x_BHTD.reshape({x_BHTD.size(0), n_groups, -1, x_BHTD.size(3)});
}

// Token indices among the keys of the queries and keys of a block.
struct Indices {
  at::Tensor i_T1, j_1S;
};

Indices indices_of(const Reach& block, at::Device device) {
  const auto options = at::TensorOptions(at::kLong).device(device);
  const auto from = [&](int64_t begin, int64_t n, int64_t step) {
    return at::arange(begin, begin + (n - 1) * step + 1, step, options);
  };
  at::Tensor j = from(block.k_begin, block.n_keys, block.step);
  if (block.n_prefix > 0) {
    j = at::cat({at::arange(block.n_prefix, options), j});
  }
  return {from(block.q_begin, block.n_queries, block.step).unsqueeze(1), j.unsqueeze(0)};
}

// MaskSpec::sees, [n, m].
at::Tensor seen(const position::MaskSpec& mask, const Indices& at_) {
  const at::Tensor &i = at_.i_T1, &j = at_.j_1S;
  const at::Tensor distance = i - j;
  at::Tensor near = distance >= 0;
  if (mask.window > 0) {
    near = near.logical_and(distance < mask.window * mask.dilation)
               .logical_and(distance.remainder(mask.dilation) == 0);
  }
  if (mask.chunk > 0) {
    near = near.logical_and(i.floor_divide(mask.chunk) == j.floor_divide(mask.chunk));
  }
  const at::Tensor global = (j < mask.n_global).logical_or(i < mask.n_global);
  return near.logical_or(global.logical_and(distance >= 0));
}

// What is added to the scores of a block: [B or 1, H or 1, n, m].
at::Tensor addend(const PlainLayer& layer, const Reach& block, int64_t first,
                  const at::TensorOptions& options) {
  const Indices at_ = indices_of(block, options.device());
  at::Tensor visible = seen(layer.mask, at_).view({1, 1, block.n_queries, -1});
  if (layer.first_key.defined()) {
    // A later one than the query's own index counts as that: every query sees itself.
    const at::Tensor oldest = query_rows(layer.first_key, 1, block, first).minimum(at_.i_T1.t());
    visible = visible.logical_and(at_.j_1S >= oldest.unsqueeze(1).unsqueeze(3));
  }
  at::Tensor bias = at::zeros({1, 1, 1, 1}, options);
  if (!layer.slopes.empty()) {
    const at::Tensor slopes_H = at::tensor(layer.slopes, at::kDouble).to(options.device());
    bias = (slopes_H.view({1, -1, 1, 1}) * (at_.j_1S - at_.i_T1)).to(options.dtype());
  }
  const double hidden = -std::numeric_limits<double>::infinity();
  return at::where(visible, bias, at::scalar_tensor(hidden, options));
}

// Scores of a block before the bias, [B, H, n, m].
at::Tensor scores(const at::Tensor& q_BHTD, const at::Tensor& k_BGSD, const PlainLayer& layer) {
  const at::Tensor dots = at::matmul(grouped(q_BHTD, k_BGSD.size(1)), k_BGSD.transpose(2, 3));
  const at::Tensor s =
      dots.view({q_BHTD.size(0), q_BHTD.size(1), q_BHTD.size(2), -1}) * layer.scale;
  return layer.cap == 0.0 ? s : at::tanh(s / layer.cap) * layer.cap;
}

std::vector<Reach> blocks_of(const PlainLayer& layer, int64_t n_queries, int64_t n_keys) {
  return reach(layer.mask, n_queries, n_keys, kBlock);
}

at::Tensor token_major(const at::Tensor& like_BHTD) {
  return at::empty({like_BHTD.size(0), like_BHTD.size(2), like_BHTD.size(1), like_BHTD.size(3)},
                   like_BHTD.options())
      .transpose(1, 2);
}

}  // namespace

PlainOutput plain_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const PlainLayer& layer) {
  const int64_t first = k.size(2) - q.size(2), G = k.size(1);
  const auto options = q.options().dtype(wide(q));
  PlainOutput out{token_major(q), at::empty({q.size(0), q.size(1), q.size(2)}, options)};
  for (const Reach& block : blocks_of(layer, q.size(2), k.size(2))) {
    const at::Tensor q_rows = query_rows(q, 2, block, first).to(wide(q));
    const at::Tensor s_BHTS =
        scores(q_rows, key_rows(k, block), layer) + addend(layer, block, first, options);
    const at::Tensor lse_BHT = s_BHTS.logsumexp(3);
    const at::Tensor weights = (s_BHTS - lse_BHT.unsqueeze(3)).exp();
    const at::Tensor y = at::matmul(grouped(weights, G), key_rows(v, block));
    query_rows(out.out, 2, block, first).copy_(y.view(q_rows.sizes()));
    query_rows(out.lse, 2, block, first).copy_(lse_BHT);
  }
  return out;
}

PlainGradients plain_backward(const at::Tensor& grad, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const PlainOutput& output,
                              const PlainLayer& layer) {
  const int64_t first = k.size(2) - q.size(2), G = k.size(1);
  const auto options = q.options().dtype(wide(q));
  PlainGradients d{token_major(q), at::zeros(k.sizes(), options), at::zeros(v.sizes(), options)};
  for (const Reach& block : blocks_of(layer, q.size(2), k.size(2))) {
    const auto rows = [&](const at::Tensor& x) {
      return query_rows(x, 2, block, first).to(options.dtype());
    };
    const at::Tensor q_rows = rows(q), g_rows = rows(grad);
    const at::Tensor k_rows = key_rows(k, block), v_rows = key_rows(v, block);
    const at::Tensor s_BHTS = scores(q_rows, k_rows, layer);
    const at::Tensor weights =
        (s_BHTS + addend(layer, block, first, options) - rows(output.lse).unsqueeze(3)).exp();
    const at::Tensor g_grouped = grouped(g_rows, G), w_grouped = grouped(weights, G);
    add_key_rows(d.v, at::matmul(w_grouped.transpose(2, 3), g_grouped), block);
    const at::Tensor d_weights =
        at::matmul(g_grouped, v_rows.transpose(2, 3)).view(weights.sizes());
    const at::Tensor mean = (g_rows * rows(output.out)).sum(3, true);
    at::Tensor d_s_BHTS = weights * (d_weights - mean) * layer.scale;
    if (layer.cap != 0.0) {
      d_s_BHTS = d_s_BHTS * (1.0 - (s_BHTS / layer.cap).square());
    }
    const at::Tensor d_scores = grouped(d_s_BHTS, G);
    query_rows(d.q, 2, block, first).copy_(at::matmul(d_scores, k_rows).view(q_rows.sizes()));
    add_key_rows(d.k, at::matmul(d_scores.transpose(2, 3), grouped(q_rows, G)), block);
  }
  return {d.q, d.k.to(k.scalar_type()), d.v.to(v.scalar_type())};
}

}  // namespace gyre::attention::cuda
