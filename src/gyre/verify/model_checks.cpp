// Cache consistency of a whole model with its own weights.
#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/randint.h>

#include "gyre/base/error.h"
#include "gyre/verify/battery.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

at::Tensor in_chunks(const model::Transformer& model, const at::Tensor& tokens, int64_t chunk) {
  model::KvCache cache(model.config().layers);
  std::vector<at::Tensor> parts;
  for (int64_t first = 0; first < tokens.size(1); first += chunk) {
    const int64_t n = std::min(chunk, tokens.size(1) - first);
    parts.push_back(model.forward(tokens.narrow(1, first, n), &cache));
  }
  return at::cat(parts, 1);
}

double largest(const at::Tensor& x) {
  return x.to(at::kDouble).abs().max().item<double>();
}

// 1e-4 of the logits in float32 (claim P15); bfloat16 rounds activations to 3 digits.
double tolerance_of(const model::Transformer& model) {
  return model.compute_dtype() == at::kBFloat16 ? 0.1 : 1e-4;
}

}  // namespace

std::vector<Check> check_model(const model::Transformer& model, int64_t n_tokens) {
  const at::NoGradGuard no_grad;
  const at::Tensor tokens =
      at::randint(model.config().vocab, {1, n_tokens}, at::make_generator<at::CPUGeneratorImpl>(11),
                  at::TensorOptions().dtype(at::kLong));
  const at::Tensor whole = model.forward(tokens);
  Tally same, greedy;
  int64_t n_differing = 0;
  for (const int64_t chunk : {n_tokens / 2, n_tokens / 3 + 1, int64_t{7}, int64_t{1}}) {
    const at::Tensor pieces = in_chunks(model, tokens, std::max<int64_t>(chunk, 1));
    same.at_most(largest(pieces - whole), tolerance_of(model), "chunks of ", chunk, ", ", n_tokens,
                 " tokens");
    n_differing += pieces.argmax(-1).ne(whole.argmax(-1)).sum().item<int64_t>();
  }
  // In bfloat16 near-ties may fall either way; float32 must agree on every token.
  const int64_t allowed = model.compute_dtype() == at::kBFloat16 ? n_tokens / 10 : 0;
  greedy.at_most(static_cast<double>(n_differing), static_cast<double>(allowed),
                 "likeliest tokens that differ in four ways to cut ", n_tokens, " tokens");
  Tally noticed;
  // The token before the last: every mask but a window of 1 lets the last one see it.
  const at::Tensor gap =
      at::cat({tokens.narrow(1, 0, n_tokens - 2), tokens.narrow(1, n_tokens - 1, 1)}, 1);
  const at::Tensor last = in_chunks(model, gap, 7).select(1, -1);
  noticed.at_least(largest(last - whole.select(1, -1)), 2.0 * tolerance_of(model),
                   "the token before the last left out of the cache");
  std::vector<Check> checks{
      {"model-cache", "P15, P55", "Chunked prefill and decoding give the logits of one pass",
       "1e-4 in float32: claim P15; 0.1 in bfloat16",
       same.result(str("logits up to ", largest(whole)))},
      {"model-greedy", "P15", "The likeliest tokens agree", "exact in float32",
       greedy.result("argmax of every position")},
      {"model-notices", "P26", "A missing token changes the last logits", "control",
       noticed.result(str("by ", largest(last - whole.select(1, -1))))}};
  for (Check& check : checks) {
    check.result.id = check.id;
  }
  return checks;
}

}  // namespace gyre::verify
