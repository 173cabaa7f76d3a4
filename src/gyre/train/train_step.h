// One optimizer step's loss and gradient, split into parts or not.
#pragma once

#include "gyre/data/dataset.h"
#include "gyre/model/transformer.h"

namespace gyre::train {

/// Adds the gradient of the batch's mean loss per token to the parameters' gradients and returns
/// that loss. The batch is computed in `parts` slices of equal token counts; each slice's sum is
/// divided by the tokens of the whole batch, so the gradient is the unsplit one up to rounding.
/// Tokens are copied to the model's device.
double accumulate_gradient(const model::Transformer& model, const data::Batch& batch,
                           int64_t parts);

}  // namespace gyre::train
