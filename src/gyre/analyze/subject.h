// What is analysed: a model that is run, its tokenizer, and what is known about it.
#pragma once

#include <cstdint>
#include <string>

#include "gyre/model/tokenizer/tokenizer.h"
#include "gyre/model/transformer.h"

namespace gyre::analyze {

struct Subject {
  std::string name;      // path, as given
  std::string identity;  // tells two models under one path apart; may be empty
  const model::Transformer& model;
  const model::Tokenizer& tokenizer;
  int64_t train_length = 0;  // original context, tokens; 0 = unknown
  int64_t begin_token = -1;  // put before every row; -1 = none
};

}  // namespace gyre::analyze
