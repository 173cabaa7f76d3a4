// Plain structs between model/norm.cpp and its kernels, norm_isa.cpp.
#pragma once

#include <cstdint>

#include "gyre/base/isa.h"

namespace gyre::model::cpu {

/// Types of the normalised rows and of the result; sums are float, double for F64.
enum class NormTypes { F32, F32ToBf16, Bf16, F64 };

/// n = norm(y) * weight + bias per row of C values, y = x + delta.
struct NormForward {
  const void* x;       // rows: r starts at (r / n_inner) * x_outer + (r % n_inner) * x_inner
  const void* delta;   // [M, C] type of n, or null
  void* y;             // [M, C] type of x; written when there is a delta
  void* n;             // [M, C]
  const void* weight;  // [C] wide
  const void* bias;    // [C] wide, or null
  void *mean, *rstd;   // [M] wide; mean is null for RMS norm
  int64_t n_inner, x_outer, x_inner;
  int64_t C;
  double eps;
};

/// dx = dy + the norm's gradient of dn; weight and bias gradients are added up per block of rows.
struct NormBackward {
  const void* y;            // rows as those of x above
  const void* dn;           // [M, C] type of n
  const void* dy;           // [M, C] type of y, or null
  const void* weight;       // [C] wide
  const void *mean, *rstd;  // [M] wide
  void* dx;                 // [M, C] type of y
  void* ddelta;             // [M, C] type of n: dx again, or null
  void* dweight;            // [blocks, C] wide, zero at first
  void* dbias;              // [blocks, C] wide or null, zero at first
  int64_t n_inner, y_outer, y_inner;
  int64_t C;
  int64_t block;  // index of the block that rows [begin, end) are
  double eps;
};

struct NormTable {
  void (*forward[4])(const NormForward&, int64_t begin, int64_t end);
  void (*backward[4])(const NormBackward&, int64_t begin, int64_t end);
};

}  // namespace gyre::model::cpu

namespace gyre {
GYRE_PER_ISA(model::cpu::NormTable, norm_kernels)
}
