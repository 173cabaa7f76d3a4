#include "gyre/train/train_step.h"

#include <ATen/ops/full.h>

#include <algorithm>

namespace gyre::train {

double accumulate_gradient(const model::Transformer& model, const data::Batch& batch,
                           int64_t parts) {
  const int64_t B = batch.inputs.size(0), step = (B + parts - 1) / parts;
  const auto n_tokens = static_cast<double>(batch.inputs.numel());
  const auto master = model.parameters().front().value.options().requires_grad(false);
  const at::Tensor weights = at::full(batch.inputs.sizes(), 1.0 / n_tokens, master);
  double loss = 0.0;
  for (int64_t b = 0; b < B; b += step) {
    const int64_t n = std::min(step, B - b);
    const at::Tensor part =
        model.loss(batch.inputs.narrow(0, b, n).to(master.device()),
                   batch.targets.narrow(0, b, n).to(master.device()), weights.narrow(0, b, n));
    part.backward();
    loss += part.item<double>();
  }
  return loss;
}

}  // namespace gyre::train
