// Plain structs between model/activation.cpp and its kernels, activation_isa.cpp.
#pragma once

#include <cstdint>

#include "gyre/base/isa.h"

namespace gyre::model::cpu {

enum class Elements { F32, Bf16, F64 };

/// The functions of an MLP: silu(gate) * up, gelu_tanh(gate) * up, gelu(up) by the error function.
enum class Curve { Silu, GeluTanh, Gelu };

/// Rows of `up`: [gate | up], 2F values, or for Curve::Gelu F values; rows of `out`: F values.
struct ActivationRows {
  const void* up;
  void* out;         // forward: the result
  const void* dout;  // backward: gradient of the result
  void* dup;         // backward: gradient of `up`
  int64_t F;
};

using ActivationKernel = void (*)(const ActivationRows&, int64_t begin, int64_t end);

/// Indexed by Curve, then by Elements.
struct ActivationTable {
  ActivationKernel forward[3][3];
  ActivationKernel backward[3][3];
};

}  // namespace gyre::model::cpu

namespace gyre {
GYRE_PER_ISA(model::cpu::ActivationTable, activation_kernels)
}
