// Training lengths of model families whose configs do not say them. Only what the family, its base
// and its vocabulary pin down together; everything else is unknown.
#pragma once

#include <string>

#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

struct KnownLength {
  double trained = 0.0;   // tokens of the training length before extension; 0 = unknown
  double admitted = 0.0;  // longest length its authors publish without scaling; 0 = not usable
  std::string family;     // "Llama 2 (2048 for Llama 1)"
};

KnownLength known_length(const ResolvedModel& model);

}  // namespace gyre::inspect
