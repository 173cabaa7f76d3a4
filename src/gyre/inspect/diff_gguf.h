// What diff says about the GGUF side of a pair.
#pragma once

#include <cstddef>
#include <string>

#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

/// Converters write latent attention as one key/value head of the latent's width (DeepSeek).
bool is_latent_head(const ResolvedModel& model, const LayerKind& kind);

/// "is missing", or why a rope_freqs.weight that is there scales nothing.
std::string state_of_freqs(const ResolvedModel& gguf, size_t n_pairs);

/// "no scaling keys", or the factor that stands there without a type.
std::string scaling_keys_of(const ResolvedModel& gguf);

}  // namespace gyre::inspect
