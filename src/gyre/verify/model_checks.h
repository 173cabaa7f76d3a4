// Cache consistency of a model with its own weights, as it is and with known faults put in.
#pragma once

#include <vector>

#include "gyre/verify/battery.h"
#include "gyre/verify/cache_faults.h"

namespace gyre::verify {

/// One pass, chunked prefill in any split, token by token, rows of a padded batch and a cache after
/// taking tokens back give the same logits, each with the worst element; a token left out of the
/// cache is noticed (control).
std::vector<Check> check_model(const model::Transformer& model, int64_t n_tokens,
                               const CacheUse& use = sound_cache_use());

/// check_model() under every fault that the model's positions can show; those that need more than
/// `n_tokens` are in the list without being tried.
std::vector<FaultRow> run_cache_faults(const model::Transformer& model, int64_t n_tokens);

}  // namespace gyre::verify
