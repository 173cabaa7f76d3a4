// Loss on fixed held-out tokens, per block, and by position inside the training length (R23).
#pragma once

#include "gyre/evaluate/windows.h"

namespace gyre::evaluate {

struct Validation {
  double loss = 0.0;           // nats per token, token-weighted
  double bits_per_byte = 0.0;  // NaN when the bytes per token are unknown
  int64_t n_tokens = 0;
  int64_t block = 0;           // tokens per block; the last one may be shorter
  std::vector<double> blocks;  // mean loss of each block, in the order of the stream
  std::vector<Bucket> positions;
  double ppl() const;
};

/// Windows of train_length tile the split from its start, so that every arm scores the same tokens.
///
/// n_tokens   asked for; 0 = all. Whole windows only: rounded down, and what the split lacks is
///            said in `notes`
/// throws     Error(Usage) when the split is shorter than one window
Validation validate(const data::Dataset& dataset, int64_t train_length, int64_t n_tokens,
                    int64_t block, const NllFn& nll, std::vector<std::string>& notes);

}  // namespace gyre::evaluate
