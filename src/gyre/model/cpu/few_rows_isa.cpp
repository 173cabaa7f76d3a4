// A linear layer on a handful of rows, as in decoding: each weight is read once, by rows as it
// lies, and meets all rows of x in registers.
// Tricks: four output channels at a time keep as many independent sums as the latency of a
// multiply-add asks for; sums are float whatever the weight's type.
#include "gyre/base/simd.h"
#include "gyre/model/cpu/few_rows.h"

namespace gyre::GYRE_ISA {
namespace {

using model::cpu::FewRows;

void write(const FewRows& p, int64_t m, int64_t n, float value) {
  value += p.bias == nullptr ? 0.0F : p.bias[n];
  if (p.bf16_result) {
    put(static_cast<BFloat*>(p.y) + m * p.N + n, value);
  } else {
    static_cast<float*>(p.y)[m * p.N + n] = value;
  }
}

// Rows [m, m + M) of x against R channels from n.
template <int M, int R, class W>
GYRE_INLINE void block(const FewRows& p, int64_t m, int64_t n) {
  const W* w = static_cast<const W*>(p.w) + n * p.K;
  const float* x = p.x + m * p.K;
  Floats sum[M][R] = {};
  for_vectors(p.K, [&](int64_t k, auto part) {
    Floats row[M];
    for (int i = 0; i < M; ++i) {
      row[i] = load(x + i * p.K + k, part);
    }
    for (int r = 0; r < R; ++r) {
      const Floats weight = load(w + r * p.K + k, part);
      for (int i = 0; i < M; ++i) {
        sum[i][r] += weight * row[i];
      }
    }
  });
  for (int i = 0; i < M; ++i) {
    for (int r = 0; r < R; ++r) {
      write(p, m + i, n + r, sum_of<float>(sum[i][r]));
    }
  }
}

template <int R, class W>
void rows(const FewRows& p, int64_t n) {
  int64_t m = 0;
  for (; m + 4 <= p.M; m += 4) {
    block<4, R, W>(p, m, n);
  }
  for (; m + 2 <= p.M; m += 2) {
    block<2, R, W>(p, m, n);
  }
  if (m < p.M) {
    block<1, R, W>(p, m, n);
  }
}

template <class W>
void channels(const FewRows& p, int64_t begin, int64_t end) {
  int64_t n = begin;
  for (; n + 4 <= end; n += 4) {
    rows<4, W>(p, n);
  }
  for (; n < end; ++n) {
    rows<1, W>(p, n);
  }
}

}  // namespace

const model::cpu::FewRowsTable& few_rows_kernels() {
  static constexpr model::cpu::FewRowsTable kTable = {channels<float>, channels<BFloat>};
  return kTable;
}

}  // namespace gyre::GYRE_ISA
