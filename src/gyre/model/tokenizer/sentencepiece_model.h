// A SentencePiece model from memory; used by load_tokenizer.
#pragma once

#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {

/// `origin` names the file in error messages.
std::unique_ptr<Tokenizer> sentencepiece_from_bytes(std::string model, const std::string& origin);

}  // namespace gyre::model
