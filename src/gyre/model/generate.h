// Continuing prompts: prefill in chunks, then one token at a time, one row or a batch of rows of
// different lengths.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "gyre/base/rng.h"
#include "gyre/model/transformer.h"

namespace gyre::model {

struct SamplerOptions {
  double temperature = 0.0;  // 0 = the likeliest token
  int64_t top_k = 0;         // of the likeliest tokens only; 0 = all
  double top_p = 1.0;        // of the fewest tokens that hold this share of the probability
  int64_t seed = 5;

  template <class V>
  void fields(V& v) {
    v("temperature", temperature, "0 = always the likeliest token");
    v("top-k", top_k, "draw from the K likeliest tokens only; 0 = all");
    v("top-p", top_p, "draw from the fewest tokens that hold this share of the probability");
    v("seed", seed, "of the draws");
  }
};

/// Throws Error(Usage) naming the option that does not fit.
void check(const SamplerOptions& options);

/// One id per row of logits [B, V]; uniform [B] in [0, 1) decides each draw.
std::vector<int64_t> sample(const at::Tensor& logits, const SamplerOptions& options,
                            const std::vector<double>& uniform);

/// A model with its cache, fed chunk by chunk.
class Decoder {
 public:
  /// chunk: tokens of one pass of a prefill, which bounds its memory.
  explicit Decoder(const Transformer& model, int64_t chunk = 512);
  /// Rows of tokens, padded on the left to one length. Returns the logits after the last token of
  /// each, [B, V].
  /// throws  c10::ValueError when there is no row, or an empty one
  at::Tensor prefill(const std::vector<std::vector<int64_t>>& rows);
  /// One more token per row; logits after it, [B, V].
  at::Tensor step(const std::vector<int64_t>& tokens);
  KvCache& cache() { return cache_; }

 private:
  const Transformer& model_;
  KvCache cache_;
  int64_t chunk_;
  at::Tensor feed(const at::Tensor& tokens_BT);
};

struct GenerateOptions {
  int64_t n_tokens = 64;      // new tokens per row, at most
  std::vector<int64_t> ends;  // ids that end a row
  SamplerOptions sampler;
};

/// Called with the number of a row and its new token, in order; false stops everything.
using OnToken = std::function<bool(size_t row, int64_t id)>;

/// New tokens of each row, its end id included.
std::vector<std::vector<int64_t>> generate(const Transformer& model,
                                           const std::vector<std::vector<int64_t>>& prompts,
                                           const GenerateOptions& options,
                                           const OnToken& on_token = {});

}  // namespace gyre::model
