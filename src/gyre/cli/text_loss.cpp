#include "gyre/cli/text_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/model/tokenizer/compare.h"
#include "gyre/train/any_model.h"

namespace gyre::cli {

double text_bits_per_byte(const std::string& model, const std::string& text) {
  constexpr int64_t kWindow = 1024;
  const c10::NoGradGuard no_grad;
  const train::AnyModel any = train::load_any_model(model, {.text_for = "inspect --loss"});
  const std::vector<int64_t> ids = any.prompt(text, model::Specials::AsText);
  const auto n = static_cast<int64_t>(ids.size());
  if (n < 2) {
    throw Error(Code::Usage, "inspect: --loss needs a text of at least two tokens, ", model,
                " makes ", n);
  }
  const int64_t window = any.max_length > 0 ? std::min(any.max_length, kWindow) : kWindow;
  const at::Tensor tokens = at::tensor(ids, at::kLong);
  const model::Transformer runs = any.at_length(std::min(n, window));
  double nats = 0.0, n_bytes = 0.0;
  Progress progress("loss", n, "tokens");
  for (int64_t first = 0; first + 1 < n; first += window) {
    const int64_t length = std::min(window, n - 1 - first);
    const at::Tensor inputs = tokens.narrow(0, first, length).unsqueeze(0);
    const at::Tensor targets = tokens.narrow(0, first + 1, length).unsqueeze(0);
    nats += runs.nll(inputs, targets).to(at::kDouble).sum().item<double>();
    for (int64_t t = first + 1; t <= first + length; ++t) {
      n_bytes += static_cast<double>(
          any.tokenizer->piece(static_cast<int32_t>(ids[static_cast<size_t>(t)])).size());
    }
    progress.update(std::min(n, first + window));
  }
  return model::bits_per_byte(nats, static_cast<int64_t>(n_bytes));
}

}  // namespace gyre::cli
