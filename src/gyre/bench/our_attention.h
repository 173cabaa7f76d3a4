// Our side of the attention benchmark: rotation and attention, forward and backward.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

#include "gyre/attention/rotation.h"
#include "gyre/position/plan.h"

namespace gyre::bench {

/// One case: "causal", "window:W" or "alibi" (which rotates nothing) at one length and head dim.
struct AttentionCase {
  int64_t batch = 1, heads = 8;
  std::string dtype = "bfloat16";  // or float32
  std::string kind;
  int64_t length = 0, head_dim = 0;
};

class OurAttention {
 public:
  OurAttention(const AttentionCase& shape, at::Device device);
  void step();
  /// One forward and backward, ms. Tables of angles are made beforehand, as the peer's are.
  double timed_ms();

 private:
  at::Device device_;
  position::LayerPlan layer_;
  attention::Rotation rotation_;
  at::Tensor q_, k_, v_, grad_;
};

}  // namespace gyre::bench
