// Plain structs between model/many_rows.cpp and its kernel for many rows, many_rows_isa.cpp.
#pragma once

#include <cstdint>

#include "gyre/base/isa.h"

namespace gyre::model::cpu {

inline constexpr int64_t kTokens = 64;    // rows of x in a packed tile
inline constexpr int64_t kOutputs = 96;   // rows of w that one piece of work multiplies
inline constexpr int64_t kManyRows = 64;  // of x, from which on the kernel is used

/// What is done to the product before it is rounded; w [2N, K] has gates first for a gated one.
enum class After { Nothing, SiluGate, GeluTanhGate, Gelu };

/// y [M, N] = after(x [M, K] w [N or 2N, K]^T + bias), all of bfloat16 but the bias; K even.
struct ManyRows {
  const uint16_t* x;
  const uint16_t* w;
  const float* bias;   // [N or 2N]; null = none
  uint32_t* packed_x;  // [ceil(M / 64)][K / 2][64] pairs of channels
  uint16_t* y;
  int64_t M, N, K;
  After after;
  int64_t width;  // outputs per piece: kOutputs, or half of it when each needs two rows of w
};

struct ManyRowsTable {
  /// Packs tiles [begin, end) of x. Null where the level has no bfloat16 products.
  void (*pack)(const ManyRows&, int64_t begin, int64_t end);
  /// Pieces [begin, end): piece i is tile i / n of x, n = ceil(N / width), and the (i % n)th
  /// outputs.
  void (*pieces)(const ManyRows&, int64_t begin, int64_t end);
};

}  // namespace gyre::model::cpu

namespace gyre {
GYRE_PER_ISA(model::cpu::ManyRowsTable, many_rows_kernels)
}
