// Plain structs between model/linear.cpp and the kernel of dW = dy^T x, weight_gradient_isa.cpp.
#pragma once

#include <cstdint>

#include "gyre/base/isa.h"

namespace gyre::model::cpu {

constexpr int64_t kGradientRows = 12;     // rows of dW in a register tile
constexpr int64_t kGradientColumns = 32;  // columns of dW in a register tile
constexpr int64_t kGradientTiles = 8;     // tiles of rows that share a packed piece of dy
constexpr int64_t kGradientDepth = 512;   // rows of dy and x per packed piece

/// dW[N, K] += dy[M, N]^T x[M, K], all of bfloat16 but dW, which is float.
struct WeightGradient {
  const uint16_t* dy;  // [M, N]
  const uint16_t* x;   // [M, K]
  uint32_t* packed_x;  // [ceil(K / 32)][ceil(M / 2)][32] pairs of rows
  float* dw;           // [N, K]
  int64_t M, N, K;
  bool fresh;  // dW is written, not added to
};

struct WeightGradientTable {
  /// Packs panels [begin, end) of x. Null where the level has no bfloat16 products.
  void (*pack)(const WeightGradient&, int64_t begin, int64_t end);
  /// Tiles [begin, end) of 12 rows of dW. scratch: 12 * 8 * 512 / 2 pairs for the calling thread.
  void (*tiles)(const WeightGradient&, uint32_t* scratch, int64_t begin, int64_t end);
};

}  // namespace gyre::model::cpu

namespace gyre {
GYRE_PER_ISA(model::cpu::WeightGradientTable, weight_gradient_kernels)
}
