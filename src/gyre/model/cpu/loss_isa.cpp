// Softmax over the vocabulary and its gradient, in place.
// Tricks: three passes over a row that stays in the first-level cache (largest, exponentials,
// scale); exponentials are kept in float, so each is computed once and bfloat16 rounds only the
// gradient.
#include "gyre/base/simd.h"
#include "gyre/model/cpu/loss.h"

namespace gyre::GYRE_ISA {
namespace {

using model::cpu::LossRows;

constexpr double kLog2E = 1.4426950408889634;

template <class T>
GYRE_INLINE Wide<T> largest_logit(const T* row, int64_t V) {
  using W = Wide<T>;
  Vec<W> largest = splat(static_cast<W>(-__builtin_inff()));
  for_vectors(V, [&](int64_t i, auto part) {
    largest = larger(largest, padded(load(row + i, part), part, static_cast<W>(-__builtin_inff())));
  });
  return largest_of<W>(largest);
}

/// Writes e^(logit - largest); returns their sum.
template <class T>
GYRE_INLINE Wide<T> exponentials(const T* row, Wide<T> largest, Wide<T>* out, int64_t V) {
  using W = Wide<T>;
  Vec<W> sum{};
  for_vectors(V, [&](int64_t i, auto part) {
    const Vec<W> e = exp2_of((load(row + i, part) - largest) * static_cast<W>(kLog2E));
    store(out + i, e, part);
    sum += padded(e, part, W{0});
  });
  return sum_of<W>(sum);
}

template <class T>
void rows(const LossRows& p, void* scratch, int64_t begin, int64_t end) {
  using W = Wide<T>;
  W* e = static_cast<W*>(scratch);
  for (int64_t r = begin; r < end; ++r) {
    T* row = static_cast<T*>(p.logits) + r * p.V;
    const W largest = largest_logit(row, p.V);
    const W sum = exponentials(row, largest, e, p.V);
    const int64_t target = p.targets[r];
    static_cast<W*>(p.nll)[r] =
        static_cast<W>(__builtin_log(static_cast<double>(sum))) + (largest - scalar(row[target]));
    if (p.weights == nullptr) {
      continue;
    }
    const W weight = static_cast<const W*>(p.weights)[r], scale = weight / sum;
    for_vectors(p.V,
                [&](int64_t i, auto part) { store(row + i, load(e + i, part) * scale, part); });
    put(row + target, e[target] * scale - weight);
  }
}

}  // namespace

const model::cpu::LossTable& loss_kernels() {
  static constexpr model::cpu::LossTable kTable = {{rows<float>, rows<BFloat>, rows<double>}};
  return kTable;
}

}  // namespace gyre::GYRE_ISA
