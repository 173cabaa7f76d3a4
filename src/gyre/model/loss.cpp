#include "gyre/model/loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/scatter_add.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <vector>

#include "gyre/model/cpu/loss.h"
#include "gyre/model/linear.h"
#include "gyre/tensor/parallel.h"
#include "gyre/tensor/work.h"

namespace gyre::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Logits held at once: few enough to stay near the cores, enough that the gradient of the head is
// not touched too often.
constexpr int64_t kChunkBytes = 4 << 20;
constexpr int64_t kLeastRows = 256;

at::Tensor chunk_buffer(const at::Tensor& x_MC, int64_t n_vocab) {
  const int64_t bytes = n_vocab * static_cast<int64_t>(x_MC.element_size());
  const int64_t rows = std::max(kLeastRows, kChunkBytes / std::max<int64_t>(bytes, 1));
  return at::empty({std::min(rows, x_MC.size(0)), n_vocab}, x_MC.options().requires_grad(false));
}

/// f(first row, number of rows, their logits) for each chunk.
template <class F>
void for_chunks(const at::Tensor& x_MC, const at::Tensor& head_VC, F f) {
  const int64_t M = x_MC.size(0);
  const at::Tensor buffer = chunk_buffer(x_MC, head_VC.size(0));
  for (int64_t m = 0; m < M; m += buffer.size(0)) {
    const int64_t n = std::min(buffer.size(0), M - m);
    at::Tensor logits = buffer.narrow(0, 0, n);
    at::mm_out(logits, x_MC.narrow(0, m, n), head_VC.t());
    f(m, n, logits);
  }
}

/// The same of torch's operators, for devices without own kernels.
void composed_rows(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& weights,
                   const at::Tensor& nll) {
  const at::Tensor wide = logits.to(nll.scalar_type()), target = targets.unsqueeze(1);
  const at::Tensor lse = wide.logsumexp(1, true);
  nll.copy_((lse - wide.gather(1, target)).squeeze(1));
  if (weights.defined()) {
    const at::Tensor less = at::full({targets.size(0), 1}, -1.0, wide.options());
    logits.copy_((wide - lse).exp().scatter_add(1, target, less) * weights.unsqueeze(1));
  }
}

/// Writes nll [n]; with weights [n], turns logits [n, V] into the gradient of sum(weights * nll).
void softmax_rows(const at::Tensor& logits, const at::Tensor& targets, const at::Tensor& weights,
                  const at::Tensor& nll) {
  if (!logits.is_cpu()) {
    return composed_rows(logits, targets, weights, nll);
  }
  GYRE_WORK("gyre::loss_rows", 0.0, logits.nbytes() * (weights.defined() ? 2 : 1));
  const int64_t V = logits.size(1);
  const cpu::LossRows rows{logits.mutable_data_ptr(), targets.const_data_ptr<int64_t>(),
                           weights.defined() ? weights.const_data_ptr() : nullptr,
                           nll.mutable_data_ptr(), V};
  const int type = logits.scalar_type() == at::kFloat      ? 0
                   : logits.scalar_type() == at::kBFloat16 ? 1
                                                           : 2;
  const auto kernel = loss_kernels().rows[type];
  const auto width = static_cast<size_t>(V) * nll.element_size();
  parallel_for(0, logits.size(0), 1, [&](int64_t begin, int64_t end) {
    std::vector<double> scratch(width / sizeof(double) + 1);
    kernel(rows, scratch.data(), begin, end);
  });
}

struct Gradients {
  at::Tensor x, head;
};

/// One pass over the chunks: nll of each row and the gradients of sum(weights * nll).
Gradients loss_and_gradients(const at::Tensor& x_MC, const at::Tensor& head_VC,
                             const at::Tensor& targets, const at::Tensor& weights,
                             const at::Tensor& nll) {
  const at::Tensor narrow = head_VC.to(x_MC.scalar_type());
  Gradients d{at::empty(x_MC.sizes(), x_MC.options().requires_grad(false)),
              at::empty(head_VC.sizes(), head_VC.options().requires_grad(false))};
  for_chunks(x_MC, narrow, [&](int64_t m, int64_t n, const at::Tensor& logits) {
    softmax_rows(logits, targets.narrow(0, m, n), weights.narrow(0, m, n), nll.narrow(0, m, n));
    at::Tensor dx = d.x.narrow(0, m, n);
    at::mm_out(dx, logits, narrow);
    add_weight_gradient_(d.head, logits, x_MC.narrow(0, m, n), m == 0);
  });
  return d;
}

class LinearNll : public torch::autograd::Function<LinearNll> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_MC, const at::Tensor& head_VC,
                            const at::Tensor& targets_M) {
    ctx->save_for_backward({x_MC, head_VC, targets_M});
    const at::Tensor nll = at::empty(targets_M.sizes(), head_VC.options().requires_grad(false));
    const at::Tensor narrow = head_VC.to(x_MC.scalar_type());
    for_chunks(x_MC, narrow, [&](int64_t m, int64_t n, const at::Tensor& logits) {
      softmax_rows(logits, targets_M.narrow(0, m, n), {}, nll.narrow(0, m, n));
    });
    return nll;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const at::Tensor weights = grads[0].contiguous();
    const Gradients d = loss_and_gradients(saved[0], saved[1], saved[2], weights,
                                           at::empty(weights.sizes(), weights.options()));
    return {d.x, d.head, {}};
  }
};

/// The sum over rows in double: one float sum of thousands of terms would show in the last digits.
at::Tensor weighted_sum(const at::Tensor& nll, const at::Tensor& weights) {
  return (nll.to(at::kDouble) * weights).sum().to(nll.scalar_type());
}

class LinearLoss : public torch::autograd::Function<LinearLoss> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x_MC, const at::Tensor& head_VC,
                            const at::Tensor& targets_M, const at::Tensor& weights_M) {
    const at::Tensor nll = at::empty(targets_M.sizes(), weights_M.options());
    const Gradients d = loss_and_gradients(x_MC, head_VC, targets_M, weights_M, nll);
    ctx->save_for_backward({d.x, d.head});
    return weighted_sum(nll, weights_M);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    if (grads[0].is_cpu() && grads[0].item<double>() == 1.0) {  // loss.backward()
      return {saved[0], saved[1], {}, {}};
    }
    return {saved[0] * grads[0].to(saved[0].scalar_type()), saved[1] * grads[0], {}, {}};
  }
};

void check(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets) {
  TORCH_CHECK_VALUE(x.dim() == 2 && head.dim() == 2 && x.size(1) == head.size(1),
                    "loss: x must be [M, C] and the head [V, C], got ", x.sizes(), " and ",
                    head.sizes());
  TORCH_CHECK_VALUE(
      targets.dim() == 1 && targets.size(0) == x.size(0) && targets.scalar_type() == at::kLong,
      "loss: targets must be [", x.size(0), "] int64, got ", targets.sizes(), " ",
      targets.scalar_type());
  if (targets.is_cpu() && targets.numel() > 0) {
    const auto [low, high] = at::aminmax(targets);
    const auto least = low.item<int64_t>(), most = high.item<int64_t>();
    TORCH_CHECK_VALUE(least >= 0 && most < head.size(0), "loss: targets must be in [0, ",
                      head.size(0), "), got ", least < 0 ? least : most);
  }
}

}  // namespace

at::Tensor linear_nll(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets) {
  check(x, head, targets);
  return LinearNll::apply(x.contiguous(), head, targets.contiguous());
}

at::Tensor linear_loss(const at::Tensor& x, const at::Tensor& head, const at::Tensor& targets,
                       const at::Tensor& weights) {
  check(x, head, targets);
  TORCH_CHECK_VALUE(
      weights.sizes() == targets.sizes() && weights.scalar_type() == head.scalar_type(),
      "loss: weights must be ", targets.sizes(), " ", head.scalar_type(), ", got ", weights.sizes(),
      " ", weights.scalar_type());
  if (!c10::GradMode::is_enabled() || !(x.requires_grad() || head.requires_grad())) {
    return weighted_sum(linear_nll(x, head, targets), weights);
  }
  return LinearLoss::apply(x.contiguous(), head, targets.contiguous(),
                           weights.detach().contiguous());
}

}  // namespace gyre::model
