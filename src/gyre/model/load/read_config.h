// Sizes and settings of a model out of its config.json or GGUF metadata, and its positions as one
// plan.
#pragma once

#include "gyre/inspect/resolved.h"
#include "gyre/model/config.h"
#include "gyre/model/load/checkpoint_weights.h"
#include "gyre/model/load/family.h"

namespace gyre::model {

struct ModelSettings {
  ModelConfig config;
  StoredBiases biases;
  double score_cap = 0.0;    // soft cap of scores; 0 = none
  double logit_scale = 1.0;  // factor on scores beyond 1/sqrt(D) and what `resolved` has
};

/// `n_tokens`: entries of the token list in the file; -1 = it has none. Error(Format) names the key
/// that is missing, of the wrong type, not supported, or at odds with other keys or the tensors.
ModelSettings read_settings(const inspect::ResolvedModel& resolved, const Family& family,
                            const TensorNames& names, const TensorStore& store,
                            int64_t n_tokens = -1);

/// Positions of every layer for a sequence of `length` tokens; 0 = up to the original length.
/// Error(Format) when layers differ in what one model cannot hold.
position::PositionPlan plan_of(const inspect::ResolvedModel& resolved,
                               const ModelSettings& settings, int64_t length);

}  // namespace gyre::model
