// How a config's layers come to know positions at all: rotation, ALiBi, a learned table, nothing,
// or no key that says so.
#pragma once

#include <vector>

#include "gyre/inspect/kind_builder.h"

namespace gyre::inspect {

inline constexpr const char* kUnknownEncoding =
    "position encoding unknown: no key says that it rotates; shown without any";

/// Appends where the answer came from to `origins`.
Encoding choose_encoding(ConfigReader& config, const ModelSizes& sizes,
                         std::vector<Provenance>& origins);

/// Whether the keys are those of an encoder, an image model or relative positions (BERT, ViT, T5):
/// that no key of it rotates is then no riddle.
bool shows_encoder(ConfigReader& config);

}  // namespace gyre::inspect
