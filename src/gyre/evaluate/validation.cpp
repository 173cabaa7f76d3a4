#include "gyre/evaluate/validation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "gyre/base/error.h"

namespace gyre::evaluate {
namespace {

std::vector<double> block_means(const std::vector<float>& losses, int64_t block) {
  std::vector<double> means;
  const auto n = static_cast<int64_t>(losses.size());
  for (int64_t begin = 0; begin < n; begin += block) {
    const int64_t end = std::min(n, begin + block);
    double sum = 0.0;
    for (int64_t i = begin; i < end; ++i) {
      sum += losses[static_cast<size_t>(i)];
    }
    means.push_back(sum / static_cast<double>(end - begin));
  }
  return means;
}

/// Whole windows of the split that fit into what was asked for.
int64_t whole_windows(int64_t stream_tokens, int64_t length, int64_t asked,
                      std::vector<std::string>& notes) {
  const int64_t held = (stream_tokens - 1) / length;
  if (held < 1) {
    throw Error(Code::Usage, "eval: the validation split has ", stream_tokens,
                " tokens, one window of the training length needs ", length + 1,
                "; use more text or a larger --val-share");
  }
  const int64_t wanted = asked == 0 ? held : std::max<int64_t>(1, asked / length);
  if (wanted > held) {
    notes.push_back(str("validation: ", asked, " tokens asked, the split holds ", held * length,
                        " in whole windows"));
  }
  return std::min(wanted, held);
}

}  // namespace

double Validation::ppl() const {
  return std::exp(loss);
}

Validation validate(const data::Dataset& dataset, int64_t train_length, int64_t n_tokens,
                    int64_t block, const NllFn& nll, std::vector<std::string>& notes) {
  const int64_t windows = whole_windows(dataset.val->size(), train_length, n_tokens, notes);
  const Scored scored =
      score(*dataset.val, disjoint_windows(0, windows * train_length, train_length), nll);
  if (const int64_t bad = count_not_finite(scored); bad > 0) {
    notes.push_back(str("validation: the loss of ", bad, " tokens is not finite"));
  }
  Validation out;
  out.loss = mean_loss(scored);
  out.bits_per_byte = dataset.val_bytes_per_token > 0
                          ? out.loss / std::numbers::ln2 / dataset.val_bytes_per_token
                          : std::numeric_limits<double>::quiet_NaN();
  out.n_tokens = static_cast<int64_t>(scored.loss.size());
  out.block = block == 0 ? train_length : block;
  out.blocks = block_means(scored.loss, out.block);
  out.positions = bucket_losses(scored, dyadic_edges(train_length));
  return out;
}

}  // namespace gyre::evaluate
