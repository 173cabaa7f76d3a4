// Losses of rows under a tap, with logits of few tokens at a time: a vocabulary of a quarter of a
// million times all tokens would not fit.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/model/transformer.h"

namespace gyre::analyze {

/// Nats per token of tokens[:, 1:], [B, T - 1] float32.
at::Tensor token_losses(const model::Transformer& model, const at::Tensor& tokens,
                        const model::Tap& tap);

/// Logits of the token after each row, [B, V] float32.
at::Tensor next_logits(const model::Transformer& model, const at::Tensor& tokens,
                       const model::Tap& tap);

}  // namespace gyre::analyze
