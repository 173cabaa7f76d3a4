// The translation gauge: scores depend on distances, so turning every query and key of a sequence
// by the same angle changes nothing, and sum_i (x~ x dx~) over its queries and keys is 0.
#pragma once

#include <ATen/core/Tensor.h>

namespace gyre::attention {

#ifdef NDEBUG
inline constexpr bool kCheckGauge = false;
#else
inline constexpr bool kCheckGauge = true;
#endif

/// plain, magnitude  [B, G, P] float64: sums of (x~ x dx~) and of |x~||dx~| over queries and keys
/// type              of the gradients, for the tolerance
/// throws            c10::Error naming the sequence and the pair
void check_gauge(const at::Tensor& plain, const at::Tensor& magnitude, at::ScalarType type);

}  // namespace gyre::attention
