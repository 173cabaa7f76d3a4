// Loss of a text under a model, in bits per byte: what two models with different tokenizers can be
// compared by. In gyre-torch only.
#pragma once

#include <string>

namespace gyre::cli {

/// Windows of 1,024 tokens (or what the model takes, if less), each begun anew; the first token of
/// each predicts and is not predicted.
///
/// throws  faults of train::load_any_model(); Error(Usage) for a text of fewer than two tokens
double text_bits_per_byte(const std::string& model, const std::string& text);

}  // namespace gyre::cli
