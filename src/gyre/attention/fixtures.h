// Helpers of this folder's tests: random tensors, conversion to the reference's plain vectors, and
// an independent attention in torch operations whose gradients come from torch's autograd.
#pragma once

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "gyre/attention/reference.h"
#include "gyre/attention/rotation.h"
#include "gyre/base/isa.h"

namespace gyre::attention::testing {

/// Small cases by the hundred are quicker without a thread team, above all on a busy machine.
class OneThread {
 public:
  OneThread();
  ~OneThread();
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

/// Runs the kernels of one instruction set while it lives.
class AtLevel {
 public:
  explicit AtLevel(Isa level) : before_(isa()) { set_isa(level); }
  ~AtLevel() { set_isa(before_); }
  AtLevel(const AtLevel&) = delete;
  AtLevel& operator=(const AtLevel&) = delete;

 private:
  Isa before_;
};

struct Shape {
  int64_t B = 2, H = 4, G = 4, T = 5, S = 5, D = 8;
};

struct Batch {
  at::Tensor q, k, v, weight;  // weight: the loss is sum(output * weight)
};

/// Standard normal draws, rounded to `dtype` and returned in it.
Batch random_batch(const Shape& shape, uint64_t seed, at::ScalarType dtype = at::kDouble);

ReferenceTensor to_reference(const at::Tensor& x);
at::Tensor from_reference(const ReferenceTensor& x);

/// Input of the reference with positions 0..S-1 + origin.
ReferenceInput reference_input(const Batch& batch, const position::LayerPlan& layer,
                               position::PairLayout layout, int64_t origin = 0);

/// [G, P] float64.
at::Tensor theta_tensor(const std::vector<std::vector<double>>& inv_freq);

/// Dense rotation and attention by torch operations alone, in the dtype of its inputs.
at::Tensor composite_rotate(const at::Tensor& x, const at::Tensor& theta,
                            const at::Tensor& positions, position::PairLayout layout,
                            double amplitude);
at::Tensor composite_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const position::LayerPlan& layer);
/// The same through torch's scaled_dot_product_attention, which on a CPU is its flash kernel.
at::Tensor torch_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const position::LayerPlan& layer);

/// Largest |a - b|.
double max_difference(const at::Tensor& a, const at::Tensor& b);

/// Element by element: |actual - expected| <= atol + rtol |expected|.
void expect_near(const at::Tensor& actual, const at::Tensor& expected, double atol,
                 double rtol = 0.0, const std::string& what = "");

/// Runs `act` and expects a c10::ValueError whose message holds `text`.
void expect_value_error(const std::function<void()>& act, const std::string& text);

}  // namespace gyre::attention::testing
