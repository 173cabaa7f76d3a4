// Needle ranking by log-likelihood: the share of items whose right value is the likeliest option.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

#include "gyre/evaluate/needle_items.h"

namespace gyre::evaluate {

/// Logits [B, V] of the token after tokens [B, T].
using NextLogitsFn = std::function<at::Tensor(const at::Tensor& tokens)>;

struct NeedleBucket {
  double begin = 0.0, end = 0.0;  // depth of the needle, 0 = start of the context
  int64_t n = 0, correct = 0;
  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(n); }
};

struct NeedleScore {
  int64_t n = 0, correct = 0;
  double option_nll = 0.0;  // mean nats of the right option under the softmax over the options
  std::string hits;         // "1" or "0" per item, in order: pairs items between arms
  double accuracy() const { return static_cast<double>(correct) / static_cast<double>(n); }
};

struct NeedleCell {
  int64_t distractors = 0;
  int64_t options = 0;  // ranked per item
  double chance = 0.0;
  int64_t length = 0;  // tokens of a context
  NeedleScore evidence, control;
  std::vector<NeedleBucket> buckets;  // five of equal depth; those without items are left out
  size_t worst = 0;                   // index of the bucket with the lowest accuracy
};

NeedleCell rank_needles(const NeedleAlphabet& alphabet, const NeedleDesign& design,
                        const NextLogitsFn& next);

}  // namespace gyre::evaluate
