// One query per head against keys in a cache: the work is to read keys and values once, as they
// lie, so nothing is packed.
#pragma once

#include <ATen/core/Tensor.h>

#include "gyre/attention/cpu/attend.h"

namespace gyre::attention::cpu {

/// Whether decode() does this call: T = 1, float32 or bfloat16, no rotation or query gain left to
/// do, and a mask that shows one run of keys.
bool decodes(const Call& call);

/// Fills out [B, H, 1, D]; probabilities stay float32 for bfloat16 values, too.
void decode(const Call& call, at::Tensor& out);

}  // namespace gyre::attention::cpu
