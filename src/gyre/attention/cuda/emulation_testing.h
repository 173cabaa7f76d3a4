// A backend for CPU tensors: the kernels' threads in loops over their grids, and the vendor's flash
// attention as a dense one that rounds where it rounds. It runs everything of this folder but the
// launches and torch's kernel themselves.
#pragma once

#include "gyre/attention/cuda/backend.h"

namespace gyre::attention::cuda::testing {

const Backend& emulated_backend();

}  // namespace gyre::attention::cuda::testing
