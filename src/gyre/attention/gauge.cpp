#include "gyre/attention/gauge.h"

#include <cmath>

namespace gyre::attention {
namespace {

// Largest tolerated |sum| / sum of |x||dx|: rounding of the gradients, with room for the
// cancellation inside them.
double tolerance(at::ScalarType type) {
  return type == at::kDouble ? 1e-9 : type == at::kFloat ? 3e-3 : 0.1;
}

}  // namespace

void check_gauge(const at::Tensor& plain, const at::Tensor& magnitude, at::ScalarType type) {
  const int64_t n_pairs = plain.size(2), per_sequence = plain.size(1) * n_pairs;
  const auto* bracket = plain.const_data_ptr<double>();
  const auto* size = magnitude.const_data_ptr<double>();
  for (int64_t i = 0; i < plain.numel(); ++i) {
    TORCH_INTERNAL_ASSERT(
        !(std::abs(bracket[i]) > tolerance(type) * size[i] + 1e-30),
        "translation gauge violated in sequence ", i / per_sequence, ", pair ", i % n_pairs,
        ": sum ", bracket[i], " of magnitude ", size[i],
        "; the loss must depend on rotated queries and keys through their scores alone");
  }
}

}  // namespace gyre::attention
