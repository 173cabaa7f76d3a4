// The MLP's activations against the formulas in double, by the 2x rule.
#include "gyre/model/activation.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/mul.h>
#include <ATen/ops/silu.h>

#include <cmath>

#include "gyre/model/kernels_testing.h"

namespace gyre::model {
namespace {

/// value and derivative of the curve; constants as in Hendrycks & Gimpel 2016, arXiv:1606.08415.
std::pair<double, double> curve(double x, Mlp kind) {
  constexpr double kPi = 3.14159265358979323846;
  if (kind == Mlp::SwiGlu) {
    const double s = 1.0 / (1.0 + std::exp(-x));
    return {x * s, s + x * s * (1.0 - s)};
  }
  if (kind == Mlp::GeGlu) {
    const double c = std::sqrt(2.0 / kPi), t = std::tanh(c * (x + 0.044715 * x * x * x));
    const double slope = (1.0 - t * t) * c * (1.0 + 3.0 * 0.044715 * x * x);
    return {0.5 * x * (1.0 + t), 0.5 * (1.0 + t) + 0.5 * x * slope};
  }
  const double cdf = 0.5 * std::erfc(-x / std::sqrt(2.0));
  return {x * cdf, cdf + x * std::exp(-0.5 * x * x) / std::sqrt(2.0 * kPi)};
}

struct Results {
  at::Tensor out, dup;
};

Results reference(const at::Tensor& up, const at::Tensor& dout, Mlp kind) {
  const int64_t M = up.size(0), F = dout.size(1), width = up.size(1);
  Results r{at::empty({M, F}, at::kDouble), at::empty({M, width}, at::kDouble)};
  for (int64_t m = 0; m < M; ++m) {
    const double* row = up.const_data_ptr<double>() + m * width;
    const double* d = dout.const_data_ptr<double>() + m * F;
    double* drow = r.dup.mutable_data_ptr<double>() + m * width;
    for (int64_t f = 0; f < F; ++f) {
      const auto [value, slope] = curve(row[f], kind);
      const double factor = kind == Mlp::Gelu ? 1.0 : row[F + f];
      r.out.mutable_data_ptr<double>()[m * F + f] = value * factor;
      drow[f] = d[f] * slope * factor;
      if (kind != Mlp::Gelu) {
        drow[F + f] = d[f] * value;
      }
    }
  }
  return r;
}

at::Tensor of_torch(const at::Tensor& up, Mlp kind) {
  if (kind == Mlp::Gelu) {
    return at::gelu(up);
  }
  const auto halves = up.chunk(2, -1);
  return at::mul(kind == Mlp::SwiGlu ? at::silu(halves[0]) : at::gelu(halves[0], "tanh"),
                 halves[1]);
}

template <class F>
Results run(const at::Tensor& up, const at::Tensor& dout, const F& activation) {
  const at::Tensor leaf = up.clone().set_requires_grad(true);
  const at::Tensor out = activation(leaf);
  (out * dout).sum().backward();
  return {out.detach(), leaf.grad()};
}

TEST(Activation, IsAsGoodAsTorchAtEveryLevelTypeAndSize) {
  at_every_level([] {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      for (const Mlp kind : {Mlp::SwiGlu, Mlp::GeGlu, Mlp::Gelu}) {
        for (const int64_t F : {1, 5, 16, 35}) {
          const int64_t width = kind == Mlp::Gelu ? F : 2 * F;
          const at::Tensor up = random_normal({37, width}, 1, 3.0).to(type);
          const at::Tensor dout = random_normal({37, F}, 2).to(type);
          const Results want = reference(up.to(at::kDouble), dout.to(at::kDouble), kind);
          const Results mine = run(up, dout, [&](auto& x) { return apply_activation(x, kind); });
          const Results torch = run(up, dout, [&](auto& x) { return of_torch(x, kind); });
          SCOPED_TRACE(testing::Message() << type << " kind " << int(kind) << " F " << F);
          EXPECT_EQ(mine.out.scalar_type(), type);
          expect_as_good_as_torch(mine.out, torch.out, want.out, "out");
          expect_as_good_as_torch(mine.dup, torch.dup, want.dup, "gradient");
        }
      }
    }
  });
}

TEST(Activation, IsFiniteFarOut) {
  at_every_level([] {
    for (const Mlp kind : {Mlp::SwiGlu, Mlp::GeGlu, Mlp::Gelu}) {
      for (const double x : {-3e4, -200.0, -88.8, 88.8, 200.0, 3e4}) {
        const at::Tensor up = random_normal({2, 20}, 1, 0.0).to(at::kFloat) + x;
        const Results r = run(up, up.narrow(1, 0, kind == Mlp::Gelu ? 20 : 10) * 0.0 + 1.0,
                              [&](auto& leaf) { return apply_activation(leaf, kind); });
        const double factor = kind == Mlp::Gelu ? 1.0 : x;  // up is x too
        const double value = x > 0 ? x * factor : 0.0, slope = x > 0 ? factor : 0.0;
        EXPECT_NEAR(r.out[0][0].item<double>(), value, 1e-6 * (1.0 + value)) << x;
        EXPECT_NEAR(r.dup[0][0].item<double>(), slope, 1e-6 * (1.0 + slope)) << x;
      }
    }
  });
}

TEST(Activation, TakesAnyLayout) {
  const at::Tensor wide = random_normal({6, 5, 24}, 1).to(at::kFloat);
  const at::Tensor view = wide.transpose(0, 1).narrow(2, 3, 14);
  EXPECT_TRUE(at::equal(apply_activation(view, Mlp::SwiGlu),
                        apply_activation(view.contiguous(), Mlp::SwiGlu)));
}

TEST(Activation, RefusesWhatDoesNotFit) {
  const auto text = [](const at::Tensor& up) -> std::string {
    try {
      apply_activation(up, Mlp::SwiGlu);
    } catch (const c10::ValueError& error) {
      return error.what_without_backtrace();
    }
    return "";
  };
  EXPECT_EQ(text(at::empty({2, 3}, at::kFloat)),
            "activation: gate and up are halves of the last dim, got 3 values");
  EXPECT_EQ(text(at::empty({2, 4}, at::kHalf)),
            "activation: expected float32, bfloat16 or float64, got Half");
}

}  // namespace
}  // namespace gyre::model
