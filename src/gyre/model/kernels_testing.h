// For tests of the model's kernels: every usable level, and the rule that bounds their error.
#pragma once

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <string>

#include "gyre/base/isa.h"

namespace gyre::model {

/// Puts the level back when the test ends.
class LevelGuard {
 public:
  LevelGuard() : before_(isa()) {}
  ~LevelGuard() { set_isa(before_); }
  LevelGuard(const LevelGuard&) = delete;
  LevelGuard& operator=(const LevelGuard&) = delete;

 private:
  Isa before_;
};

/// f() once per level that this machine can run.
template <class F>
void at_every_level(F f) {
  const LevelGuard guard;
  for (const Isa level : usable_isas()) {
    SCOPED_TRACE(isa_name(level));
    set_isa(level);
    f();
  }
}

inline at::Tensor random_normal(at::IntArrayRef sizes, uint64_t seed, double scale = 1.0) {
  return at::randn(sizes, at::make_generator<at::CPUGeneratorImpl>(seed),
                   at::TensorOptions().dtype(at::kDouble)) *
         scale;
}

/// max|kernel - reference| <= 2 max|torch - reference| + 1e-6 (style.md), all of one shape;
/// reference in double by plain loops or torch in double, torch in the kernel's own type.
inline void expect_as_good_as_torch(const at::Tensor& kernel, const at::Tensor& torch,
                                    const at::Tensor& reference, const std::string& what) {
  ASSERT_EQ(kernel.sizes(), reference.sizes()) << what;
  const auto error = [&](const at::Tensor& x) {
    return (x.detach().to(at::kDouble) - reference).abs().max().item<double>();
  };
  // Written so that a NaN fails.
  EXPECT_TRUE(error(kernel) <= 2 * error(torch) + 1e-6)
      << what << ": " << error(kernel) << " against torch's " << error(torch);
}

}  // namespace gyre::model
