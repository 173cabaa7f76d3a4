// Linear layer and cross-entropy in one: the logits of a chunk of rows live only while needed.
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scatter_add.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "gyre/model/layers.h"

namespace gyre::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kChunkBytes = 32LL << 20;  // float logits held at once

int64_t rows_per_chunk(int64_t n_vocab) {
  return std::max<int64_t>(1, kChunkBytes / (4 * n_vocab));
}

at::Tensor chunk_logits(const at::Tensor& x_MC, const at::Tensor& head_VC, at::ScalarType dtype) {
  return at::linear(x_MC, head_VC).to(dtype);
}

class LinearNll : public torch::autograd::Function<LinearNll> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_MC, const at::Tensor& head_VC,
                            const at::Tensor& targets_M, int64_t dtype_code) {
    const auto dtype = static_cast<at::ScalarType>(dtype_code);
    const int64_t M = x_MC.size(0), step = rows_per_chunk(head_VC.size(0));
    std::vector<at::Tensor> nll, lse;
    at::Tensor kept;  // logits, when they fit into one chunk
    for (int64_t m = 0; m < M; m += step) {
      const int64_t n = std::min(step, M - m);
      const at::Tensor logits = chunk_logits(x_MC.narrow(0, m, n), head_VC, dtype);
      const at::Tensor target = targets_M.narrow(0, m, n).unsqueeze(1);
      lse.push_back(logits.logsumexp(1));
      nll.push_back(lse.back() - logits.gather(1, target).squeeze(1));
      kept = n == M ? logits : at::Tensor();
    }
    ctx->save_for_backward({x_MC, head_VC, targets_M, at::cat(lse), kept});
    ctx->saved_data["dtype"] = dtype_code;
    return at::cat(nll);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &x_MC = saved[0], &head_VC = saved[1], &targets_M = saved[2];
    const auto dtype = static_cast<at::ScalarType>(ctx->saved_data["dtype"].toInt());
    const int64_t M = x_MC.size(0), step = rows_per_chunk(head_VC.size(0));
    std::vector<at::Tensor> dx;
    at::Tensor dhead = at::zeros_like(head_VC, head_VC.options().dtype(dtype));
    for (int64_t m = 0; m < M; m += step) {
      const int64_t n = std::min(step, M - m);
      const at::Tensor x = x_MC.narrow(0, m, n);
      at::Tensor d = saved[4].defined() ? saved[4].clone() : chunk_logits(x, head_VC, dtype);
      d.sub_(saved[3].narrow(0, m, n).unsqueeze(1)).exp_();
      const at::Tensor target = targets_M.narrow(0, m, n).unsqueeze(1);
      d.scatter_add_(1, target, at::full({n, 1}, -1.0, d.options()));
      d.mul_(grads[0].narrow(0, m, n).unsqueeze(1));
      d = d.to(x.scalar_type());
      dx.push_back(at::mm(d, head_VC));
      dhead.add_(at::mm(d.t(), x));
    }
    return {at::cat(dx), dhead.to(head_VC.scalar_type()), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor linear_nll(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets,
                      at::ScalarType dtype) {
  return LinearNll::apply(x, head, targets, static_cast<int64_t>(dtype));
}

}  // namespace gyre::model
