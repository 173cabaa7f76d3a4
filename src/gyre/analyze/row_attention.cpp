#include "gyre/analyze/row_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace gyre::analyze {
namespace {

/// -slope (i - j) of queries first .. first + n, [H, n, T].
at::Tensor distance_bias(const std::vector<double>& slopes, int64_t first, int64_t n, int64_t T) {
  const at::Tensor i = at::arange(first, first + n, at::kFloat).view({1, n, 1});
  const at::Tensor j = at::arange(T, at::kFloat).view({1, 1, T});
  return at::tensor(slopes, at::kDouble).to(at::kFloat).view({-1, 1, 1}) * (j - i);
}

}  // namespace

double logit_scale(const position::LayerPlan& layer, int64_t head_dim) {
  return layer.logit_scale / std::sqrt(static_cast<double>(head_dim));
}

at::Tensor visible_keys(const position::MaskSpec& mask, int64_t length) {
  at::Tensor out = at::empty({length, length}, at::kBool);
  bool* cell = out.mutable_data_ptr<bool>();
  for (int64_t i = 0; i < length; ++i) {
    for (int64_t j = 0; j < length; ++j) {
      *cell++ = mask.sees(i, j);
    }
  }
  return out;
}

void each_query_block(const at::Tensor& q_HTD, const at::Tensor& k_GTD,
                      const position::LayerPlan& layer, const at::Tensor& visible_TT,
                      const std::function<void(const QueryBlock&)>& see) {
  const int64_t H = q_HTD.size(0), T = q_HTD.size(1), D = q_HTD.size(2), G = k_GTD.size(0);
  const int64_t held = kBlockBytes / (static_cast<int64_t>(sizeof(float)) * H * T);
  const int64_t step = std::clamp(held, std::min(kPatternTokens, T), T);
  const at::Tensor keys = k_GTD.unsqueeze(1).transpose(-2, -1);  // [G, 1, D, T]
  const double scale = logit_scale(layer, D);
  for (int64_t first = 0; first < T; first += step) {
    const int64_t n = std::min(step, T - first);
    const at::Tensor q = q_HTD.narrow(1, first, n).reshape({G, H / G, n, D});
    QueryBlock block;
    block.first = first;
    block.logits = at::matmul(q, keys).view({H, n, T}) * scale;
    if (layer.score_cap != 0.0) {
      block.logits = at::tanh(block.logits / layer.score_cap) * layer.score_cap;
    }
    at::Tensor scores = block.logits;
    if (!layer.slopes.empty()) {
      scores = scores + distance_bias(layer.slopes, first, n, T);
    }
    block.weights = scores
                        .masked_fill(visible_TT.narrow(0, first, n).logical_not(),
                                     -std::numeric_limits<double>::infinity())
                        .softmax(-1);
    see(block);
  }
}

}  // namespace gyre::analyze
