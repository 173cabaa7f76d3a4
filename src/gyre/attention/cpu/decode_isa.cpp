// One query per head against a piece of a cache (decode.cpp joins the pieces).
// Tricks: heads that share a key/value head meet each key and value in one pass, up to four at a
// time; scores of a piece stay in the first-level cache, so its softmax needs no second pass over
// keys.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wuninitialized"  // of gcc's own reductions, avx512fintrin.h
#endif
#include "gyre/attention/cpu/decode_params.h"
#include "gyre/base/simd.h"

namespace gyre::GYRE_ISA {
namespace {

using attention::cpu::DecodePiece;
using attention::cpu::kPiece;

template <class T>
GYRE_INLINE const T* row(const void* p, int64_t i, int64_t step) {
  return static_cast<const T*>(p) + i * step;
}

// Dot products of query rows [m, m + M) with every key.
template <int M, class T>
GYRE_INLINE void dots(const DecodePiece& p, int64_t m, float (*scores)[kPiece]) {
  for (int64_t c = 0; c < p.n; ++c) {
    const T* key = row<T>(p.k, c, p.k_step);
    Floats sum[M] = {};
    for_vectors(p.head_dim, [&](int64_t d, auto part) {
      const Floats k = load(key + d, part);
      for (int i = 0; i < M; ++i) {
        sum[i] += k * load(row<T>(p.q, m + i, p.q_step) + d, part);
      }
    });
    for (int i = 0; i < M; ++i) {
      scores[i][c] = sum_of<float>(sum[i]);
    }
  }
}

// Scores to exponentials; padded to whole vectors with keys that weigh nothing.
GYRE_INLINE void softmax(const DecodePiece& p, int64_t m, float* scores) {
  const auto scale = static_cast<float>(p.scale), cap = static_cast<float>(p.cap);
  const float slope = p.slopes == nullptr ? 0.0F : static_cast<float>(p.slopes[m]);
  float top = -__builtin_inff();
  for (int64_t c = 0; c < p.n; ++c) {
    float s = scores[c] * scale;
    if (cap != 0.0F) {
      s = cap * __builtin_tanhf(s / cap);
    }
    s -= slope * static_cast<float>(p.distance - c);
    scores[c] = s;
    top = s > top ? s : top;
  }
  const int64_t padded = (p.n + kLanes - 1) / kLanes * kLanes;
  for (int64_t c = p.n; c < padded; ++c) {
    scores[c] = -__builtin_inff();
  }
  Floats sum{};
  for (int64_t c = 0; c < padded; c += kLanes) {
    const Floats e = exp2_of(load(scores + c) - top);
    store(scores + c, e);
    sum += e;
  }
  p.top[m] = top;
  p.sum[m] = sum_of<float>(sum);
}

template <int M, class T>
GYRE_INLINE void add_values(const DecodePiece& p, int64_t m, float (*weights)[kPiece]) {
  constexpr int64_t kStep = 4 * kLanes;  // channels whose sums stay in registers
  for (int64_t d0 = 0; d0 < p.head_dim; d0 += kStep) {
    const int64_t width = p.head_dim - d0 < kStep ? p.head_dim - d0 : kStep;
    alignas(64) float sums[M][kStep] = {};
    for (int64_t c = 0; c < p.n; ++c) {
      const T* value = row<T>(p.v, c, p.v_step) + d0;
      for_vectors(width, [&](int64_t d, auto part) {
        const Floats v = load(value + d, part);
        for (int i = 0; i < M; ++i) {
          store(sums[i] + d, load(sums[i] + d) + weights[i][c] * v);
        }
      });
    }
    for (int i = 0; i < M; ++i) {
      __builtin_memcpy(p.out + (m + i) * p.head_dim + d0, sums[i],
                       static_cast<uint64_t>(width) * sizeof(float));
    }
  }
}

template <int M, class T>
void heads(const DecodePiece& p, int64_t m) {
  alignas(64) float scores[M][kPiece];
  dots<M, T>(p, m, scores);
  for (int i = 0; i < M; ++i) {
    softmax(p, m + i, scores[i]);
  }
  add_values<M, T>(p, m, scores);
}

template <class T>
void piece(const DecodePiece& p) {
  int64_t m = 0;
  for (; m + 4 <= p.n_queries; m += 4) {
    heads<4, T>(p, m);
  }
  for (; m + 2 <= p.n_queries; m += 2) {
    heads<2, T>(p, m);
  }
  if (m < p.n_queries) {
    heads<1, T>(p, m);
  }
}

}  // namespace

const attention::cpu::DecodeTable& decode_kernels() {
  static constexpr attention::cpu::DecodeTable kTable = {piece<float>, piece<BFloat>};
  return kTable;
}

}  // namespace gyre::GYRE_ISA
