// Plain structs between model/loss.cpp and its kernels, loss_isa.cpp.
#pragma once

#include <cstdint>

#include "gyre/base/isa.h"

namespace gyre::model::cpu {

/// Rows of V logits; the wide type is float, double for double logits.
struct LossRows {
  void* logits;            // [M, V]; with weights they become their gradient
  const int64_t* targets;  // [M]
  const void* weights;     // [M] wide: gradient of each row's nll; null = nll alone
  void* nll;               // [M] wide
  int64_t V;
};

/// `scratch`: V values of the wide type for the calling thread.
using LossKernel = void (*)(const LossRows&, void* scratch, int64_t begin, int64_t end);

/// Indexed by Elements: float, bfloat16, double.
struct LossTable {
  LossKernel rows[3];
};

}  // namespace gyre::model::cpu

namespace gyre {
GYRE_PER_ISA(model::cpu::LossTable, loss_kernels)
}
