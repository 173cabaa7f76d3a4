#include "gyre/model/generate.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>

#include "gyre/base/error.h"

namespace gyre::model {
namespace {

// Ids from the likeliest on, as many as top_k and top_p leave.
int64_t draw(const at::Tensor& logits_V, const SamplerOptions& options, double uniform) {
  const at::Tensor p = at::softmax(logits_V.to(at::kDouble) / options.temperature, 0).contiguous();
  const double* probability = p.const_data_ptr<double>();
  std::vector<int64_t> ids(static_cast<size_t>(p.numel()));
  std::iota(ids.begin(), ids.end(), 0);
  const auto likelier = [&](int64_t a, int64_t b) {
    return probability[a] != probability[b] ? probability[a] > probability[b] : a < b;
  };
  std::sort(ids.begin(), ids.end(), likelier);
  const size_t most =
      options.top_k > 0 ? std::min(ids.size(), static_cast<size_t>(options.top_k)) : ids.size();
  double mass = 0.0;
  size_t n = 0;
  while (n < most && (n == 0 || mass < options.top_p)) {
    mass += probability[ids[n++]];
  }
  double left = uniform * mass;
  for (size_t i = 0; i < n; ++i) {
    left -= probability[ids[i]];
    if (left < 0.0) {
      return ids[i];
    }
  }
  return ids[n - 1];
}

}  // namespace

void check(const SamplerOptions& options) {
  if (!(options.temperature >= 0.0)) {
    throw Error(Code::Usage, "--temperature must be at least 0, got ", options.temperature);
  }
  if (options.top_k < 0) {
    throw Error(Code::Usage, "--top-k must be at least 0, got ", options.top_k);
  }
  if (!(options.top_p > 0.0 && options.top_p <= 1.0)) {
    throw Error(Code::Usage, "--top-p must be in (0, 1], got ", options.top_p);
  }
}

std::vector<int64_t> sample(const at::Tensor& logits, const SamplerOptions& options,
                            const std::vector<double>& uniform) {
  std::vector<int64_t> ids;
  for (int64_t b = 0; b < logits.size(0); ++b) {
    ids.push_back(options.temperature == 0.0
                      ? logits[b].argmax().item<int64_t>()
                      : draw(logits[b].cpu(), options, uniform[static_cast<size_t>(b)]));
  }
  return ids;
}

Decoder::Decoder(const Transformer& model, int64_t chunk)
    : model_(model), cache_(model.plan()), chunk_(chunk) {
  TORCH_CHECK_VALUE(chunk > 0, "decoder: chunks must hold at least one token, got ", chunk);
}

at::Tensor Decoder::feed(const at::Tensor& tokens_BT) {
  const at::NoGradGuard no_grad;
  const int64_t T = tokens_BT.size(1);
  at::Tensor hidden_BTC;
  for (int64_t first = 0; first < T; first += chunk_) {
    const int64_t n = std::min(chunk_, T - first);
    const Pass pass{.cache = &cache_, .wanted_rows = first + n < T ? 0 : 1};
    hidden_BTC = model_.hidden(tokens_BT.narrow(1, first, n), pass);
  }
  return model_.project(hidden_BTC.select(1, 0));
}

at::Tensor Decoder::prefill(const std::vector<std::vector<int64_t>>& rows) {
  TORCH_CHECK_VALUE(!rows.empty(), "decoder: no rows to begin with");
  size_t longest = 0, shortest = rows.front().size();
  for (const auto& row : rows) {
    longest = std::max(longest, row.size());
    shortest = std::min(shortest, row.size());
  }
  TORCH_CHECK_VALUE(shortest > 0,
                    "decoder: a row has no tokens; begin it with the model's first "
                    "token");
  const auto B = static_cast<int64_t>(rows.size()), T = static_cast<int64_t>(longest);
  at::Tensor tokens = at::zeros({B, T}, at::kLong), padding = at::zeros({B}, at::kLong);
  for (size_t b = 0; b < rows.size(); ++b) {
    const size_t pad = longest - rows[b].size();
    padding.mutable_data_ptr<int64_t>()[b] = static_cast<int64_t>(pad);
    std::copy(rows[b].begin(), rows[b].end(),
              tokens.mutable_data_ptr<int64_t>() + b * longest + pad);
  }
  if (shortest < longest) {
    cache_.set_padding(padding.to(model_.device()));
  }
  return feed(tokens.to(model_.device()));
}

at::Tensor Decoder::step(const std::vector<int64_t>& tokens) {
  return feed(at::tensor(tokens, at::kLong).unsqueeze(1).to(model_.device()));
}

std::vector<std::vector<int64_t>> generate(const Transformer& model,
                                           const std::vector<std::vector<int64_t>>& prompts,
                                           const GenerateOptions& options,
                                           const OnToken& on_token) {
  check(options.sampler);
  std::vector<std::vector<int64_t>> out(prompts.size());
  if (options.n_tokens <= 0) {
    return out;
  }
  Rng rng(static_cast<uint64_t>(options.sampler.seed), "generate");
  Decoder decoder(model);
  at::Tensor logits = decoder.prefill(prompts);
  std::vector<bool> ended(prompts.size(), false);
  for (int64_t i = 0; i < options.n_tokens; ++i) {
    std::vector<double> uniform(prompts.size());
    std::generate(uniform.begin(), uniform.end(), [&] { return rng.uniform(); });
    const std::vector<int64_t> ids = sample(logits, options.sampler, uniform);
    for (size_t row = 0; row < ids.size(); ++row) {
      if (ended[row]) {
        continue;
      }
      out[row].push_back(ids[row]);
      ended[row] =
          std::find(options.ends.begin(), options.ends.end(), ids[row]) != options.ends.end();
      if (on_token && !on_token(row, ids[row])) {
        return out;
      }
    }
    if (i + 1 == options.n_tokens || std::find(ended.begin(), ended.end(), false) == ended.end()) {
      break;
    }
    logits = decoder.step(ids);
  }
  return out;
}

}  // namespace gyre::model
