// The tokenizer that a tokenizer.json or a GGUF vocabulary describes: added tokens are cut out, the
// rest is normalised, cut into pieces and merged.
#pragma once

#include "gyre/model/tokenizer/added_tokens.h"
#include "gyre/model/tokenizer/bpe_model.h"
#include "gyre/model/tokenizer/normalizer.h"
#include "gyre/model/tokenizer/pre_tokenizer.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {

struct Pipeline {
  std::string kind;
  AddedTokens added;             // looked for in the text as it came
  AddedTokens added_normalized;  // looked for after normalisation
  std::vector<NormalStep> normalizer;
  PreTokenizer pre_tokenizer;
  BpeModel model;
  std::vector<std::string> pieces;  // id -> bytes when decoded
  std::vector<bool> special;        // id -> whether it is a special token
  size_t strip_spaces = 0;          // spaces that decode() takes from the front of a text
  SpecialIds ids;
  std::function<std::string()> serialize;
};

std::unique_ptr<Tokenizer> pipeline_tokenizer(Pipeline pipeline);

}  // namespace gyre::model
