// Plain structs between model/linear.cpp and its kernel for few rows, few_rows_isa.cpp.
#pragma once

#include <cstdint>

#include "gyre/base/isa.h"

namespace gyre::model::cpu {

inline constexpr int64_t kFewRows = 8;  // of x, for which reading the weight is the work

/// y [M, N] = x [M, K] w [N, K]^T + bias, for output channels [begin, end).
struct FewRows {
  const float* x;
  const void* w;      // float or bfloat16
  const float* bias;  // [N]; null = none
  void* y;            // float, or bfloat16
  bool bf16_result;
  int64_t M, N, K;
};

struct FewRowsTable {
  void (*of_float)(const FewRows&, int64_t begin, int64_t end);
  void (*of_bf16)(const FewRows&, int64_t begin, int64_t end);
};

}  // namespace gyre::model::cpu

namespace gyre {
GYRE_PER_ISA(model::cpu::FewRowsTable, few_rows_kernels)
}
