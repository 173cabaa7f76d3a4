#include "gyre/train/validation.h"

#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <vector>

#include "gyre/base/error.h"

namespace gyre::train {

double validation_loss(const model::Transformer& model, const data::TokenStream& stream,
                       int64_t length, int64_t max_tokens) {
  constexpr int64_t kTokensPerCall = 4096;
  const c10::NoGradGuard no_grad;
  int64_t n_windows = (stream.size() - 1) / length;
  if (max_tokens > 0) {
    n_windows = std::min(n_windows, std::max<int64_t>(1, max_tokens / length));
  }
  if (n_windows < 1) {
    throw Error(Code::Usage, "the validation text has ", stream.size(), " tokens, one window of ",
                "--length ", length, " needs ", length + 1, "; lower --length or add text");
  }
  const int64_t per_call = std::max<int64_t>(1, kTokensPerCall / length);
  const at::Device device = model.parameters().front().value.device();
  double sum = 0.0;
  for (int64_t w = 0; w < n_windows; w += per_call) {
    std::vector<at::Tensor> inputs, targets;
    for (int64_t i = w; i < std::min(w + per_call, n_windows); ++i) {
      const at::Tensor window = stream.read(i * length, length + 1);
      inputs.push_back(window.narrow(0, 0, length));
      targets.push_back(window.narrow(0, 1, length));
    }
    const at::Tensor nll = model.nll(at::stack(inputs).to(device), at::stack(targets).to(device));
    sum += nll.sum(at::kDouble).item<double>();
  }
  return sum / static_cast<double>(n_windows * length);
}

}  // namespace gyre::train
