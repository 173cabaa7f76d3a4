#include "gyre/analyze/token_losses.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/log_softmax.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace gyre::analyze {
namespace {

constexpr int64_t kLogitBytes = 64 << 20;

}  // namespace

at::Tensor token_losses(const model::Transformer& model, const at::Tensor& tokens,
                        const model::Tap& tap) {
  const c10::NoGradGuard no_grad;
  const int64_t B = tokens.size(0), T = tokens.size(1) - 1;
  const at::Tensor inputs = tokens.narrow(1, 0, T).contiguous();
  const at::Tensor hidden_MC = model.hidden(inputs, {.tap = tap}).flatten(0, 1);
  const at::Tensor targets_M = tokens.narrow(1, 1, T).reshape({-1, 1});
  const int64_t step = std::max<int64_t>(1, kLogitBytes / (4 * model.config().vocab));
  std::vector<at::Tensor> parts;
  for (int64_t first = 0; first < B * T; first += step) {
    const int64_t n = std::min(step, B * T - first);
    const at::Tensor logits = model.project(hidden_MC.narrow(0, first, n).unsqueeze(0)).squeeze(0);
    parts.push_back(-logits.log_softmax(-1).gather(1, targets_M.narrow(0, first, n)));
  }
  return at::cat(parts).view({B, T});
}

at::Tensor next_logits(const model::Transformer& model, const at::Tensor& tokens,
                       const model::Tap& tap) {
  const c10::NoGradGuard no_grad;
  const at::Tensor hidden = model.hidden(tokens, {.tap = tap});
  return model.project(hidden.narrow(1, tokens.size(1) - 1, 1).contiguous()).squeeze(1);
}

}  // namespace gyre::analyze
