// The validation loss that a training run reports: the same windows for every run on a corpus.
#pragma once

#include <cstdint>

#include "gyre/data/dataset.h"
#include "gyre/model/transformer.h"

namespace gyre::train {

/// Mean nats per token over windows of `length` that tile the stream from its start, up to
/// `max_tokens` (0 = all); sums in double. Error(Usage) when not one window fits.
double validation_loss(const model::Transformer& model, const data::TokenStream& stream,
                       int64_t length, int64_t max_tokens);

}  // namespace gyre::train
