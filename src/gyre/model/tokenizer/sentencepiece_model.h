// A SentencePiece model from memory; used by load_tokenizer.
#pragma once

#include <optional>

#include "gyre/model/tokenizer/hf_tokenizer.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {

/// `origin` names the file in error messages; `known` and `side` as in hf_tokenizer.
std::unique_ptr<Tokenizer> sentencepiece_from_bytes(std::string model, const std::string& origin,
                                                    const std::optional<SpecialIds>& known = {},
                                                    const SideFiles& side = {});

}  // namespace gyre::model
