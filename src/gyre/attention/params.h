// Plain structs between the public calls and the kernels: pointers, sizes and strides in elements.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gyre/attention/element.h"

namespace gyre::attention {

/// Pairs [first, second) that turn; the rest of a row is copied.
using PairRuns = std::vector<std::pair<int64_t, int64_t>>;

/// One head's rows: T rows of D elements, last dim contiguous.
struct Rows {
  const void* in;  // stride in_step
  void* out;       // stride out_step
  int64_t in_step, out_step;
  int64_t n_rows;
  int64_t head_dim;  // D
  int64_t n_pairs;   // P
  const void* cos;   // [T, P] in the accumulate type
  const void* sin;
  const PairRuns* runs;
  bool interleaved;
  double direction;  // +1 rotates forward, -1 back
};

/// Sums over one head's rows for the frequency gradient.
struct CrossRows {
  const void* rotated;  // rows of q~ or k~
  const void* grad;     // rows of their gradient
  int64_t rotated_step, grad_step;
  int64_t n_rows;
  int64_t n_pairs;
  const int64_t* positions;  // [T]
  bool interleaved;
  double* weighted;   // [P] += sum_i pos_i (rotated x grad)
  double* plain;      // [P] += sum_i (rotated x grad); null = not wanted
  double* magnitude;  // [P] += sum_i |rotated| |grad|; null = not wanted
};

/// Kernels for one head; plain loops, compiled for several instruction sets where that is possible.
void rotate_rows(Element type, const Rows& rows);
void cross_rows(Element type, const CrossRows& rows);

}  // namespace gyre::attention
