// The fused attention's kernels of the instruction set in force.
#pragma once

#include "gyre/attention/cpu/params.h"
#include "gyre/base/isa.h"

namespace gyre::attention::cpu {

GYRE_PER_ISA(Kernels, kernels)

}  // namespace gyre::attention::cpu
