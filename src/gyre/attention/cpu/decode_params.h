// Plain structs between decode.cpp and its kernel, decode_isa.cpp.
#pragma once

#include <cstdint>

#include "gyre/base/isa.h"

namespace gyre::attention::cpu {

inline constexpr int64_t kPiece = 512;  // keys of one piece of parallel work

/// Queries of one key/value head against keys [0, n) of a piece.
struct DecodePiece {
  const void* q;  // n_queries rows of D elements, q_step apart
  const void* k;  // n rows, k_step apart
  const void* v;
  int64_t q_step, k_step, v_step;
  int64_t n_queries, n, head_dim;
  double scale, cap;     // scores in units of log 2; cap 0 = none
  const double* slopes;  // [n_queries] in units of log 2; null = none
  int64_t distance;      // from the query back to key 0 of the piece, tokens
  float* out;            // [n_queries][D], sum of exp2(s - top) v
  float* top;            // [n_queries]
  float* sum;            // [n_queries], of exp2(s - top)
};

struct DecodeTable {
  void (*of_float)(const DecodePiece&);
  void (*of_bf16)(const DecodePiece&);
};

}  // namespace gyre::attention::cpu

namespace gyre {
GYRE_PER_ISA(attention::cpu::DecodeTable, decode_kernels)
}
