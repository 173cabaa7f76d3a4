// Linear layers and their gradients against plain loops in double, by the 2x rule.
#include "gyre/model/linear.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <functional>
#include <vector>

#include "gyre/model/activation.h"
#include "gyre/model/kernels_testing.h"

namespace gyre::model {
namespace {

/// a[m, k] b[n, k] summed over k, by loops; strides as the tensors have them.
at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  const auto x = a.accessor<double, 2>(), y = b.accessor<double, 2>();
  at::Tensor out = at::zeros({a.size(0), b.size(0)}, at::kDouble);
  auto z = out.accessor<double, 2>();
  for (int64_t m = 0; m < a.size(0); ++m) {
    for (int64_t n = 0; n < b.size(0); ++n) {
      for (int64_t k = 0; k < a.size(1); ++k) {
        z[m][n] += x[m][k] * y[n][k];
      }
    }
  }
  return out;
}

at::Tensor wide(const at::Tensor& x) {
  return x.detach().to(at::kDouble);
}

struct Sizes {
  int64_t M, K, N;
};
// Around the register tile (12 x 32), the packed pieces (512 rows, 96 columns) and their tails.
const std::vector<Sizes> kSizes = {
    {1, 1, 1}, {2, 33, 13}, {7, 32, 12}, {515, 65, 99}, {1027, 5, 24}};

TEST(WeightGradient, IsAsGoodAsTorchAtEveryLevelTypeAndSize) {
  at_every_level([] {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      const auto master = type == at::kDouble ? at::kDouble : at::kFloat;
      for (const Sizes& s : kSizes) {
        SCOPED_TRACE(testing::Message() << type << " " << s.M << " " << s.K << " " << s.N);
        const at::Tensor dy = random_normal({s.M, s.N}, 1).to(type);
        const at::Tensor x = random_normal({s.M, s.K}, 2).to(type);
        const at::Tensor before = random_normal({s.N, s.K}, 3).to(master);
        const at::Tensor want = product(wide(dy).t(), wide(x).t());
        const at::Tensor torch = dy.t().matmul(x).to(master);
        at::Tensor fresh = before.clone(), added = before.clone();
        add_weight_gradient_(fresh, dy, x, true);
        add_weight_gradient_(added, dy, x, false);
        expect_as_good_as_torch(fresh, torch, want, "fresh");
        expect_as_good_as_torch(added, torch + before, want + wide(before), "added");
      }
    }
  });
}

TEST(WeightGradient, IsTheSameForAnyNumberOfPieces) {
  // 768 columns are packed 1,024 rows at a time; each sum over rows keeps its order.
  const at::Tensor dy = random_normal({2300, 20}, 1).to(at::kBFloat16);
  const at::Tensor x = random_normal({2300, 768}, 2).to(at::kBFloat16);
  at_every_level([&] {
    at::Tensor whole = at::empty({20, 768}, at::kFloat), narrow = at::empty({20, 40}, at::kFloat);
    add_weight_gradient_(whole, dy, x, true);
    add_weight_gradient_(narrow, dy, x.narrow(1, 0, 40).contiguous(), true);
    const double step = isa() == Isa::Avx512Bf16 ? 0.0 : 0.5;  // elsewhere torch rounds to bfloat16
    EXPECT_LE((whole.narrow(1, 0, 40) - narrow).abs().max().item<double>(), step);
  });
}

struct Gradients {
  at::Tensor y, dx, dw, db;
};
template <class F>
Gradients run(const at::Tensor& x, const LinearLayer& layer, const at::Tensor& dy, const F& f) {
  const at::Tensor leaf = x.detach().clone().set_requires_grad(true);
  const LinearLayer mine{layer.weight.clone().set_requires_grad(true),
                         layer.bias.clone().set_requires_grad(true)};
  const at::Tensor y = f(leaf, mine);
  (y * dy).sum().backward();
  return {y.detach(), leaf.grad(), mine.weight.grad(), mine.bias.grad()};
}

/// The same of torch's operators, weights cast as torch's users cast them.
at::Tensor torch_linear(const at::Tensor& x, const LinearLayer& layer) {
  return at::linear(x, layer.weight.to(x.scalar_type()), layer.bias.to(x.scalar_type()));
}

TEST(Linear, IsAsGoodAsTorchInEveryType) {
  at_every_level([] {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      const auto master = type == at::kDouble ? at::kDouble : at::kFloat;
      const at::Tensor x = random_normal({3, 41, 18}, 1).to(type);
      const LinearLayer layer{random_normal({27, 18}, 2).to(type).to(master),
                              random_normal({27}, 3).to(type).to(master)};
      const at::Tensor dy = random_normal({3, 41, 27}, 4).to(type);
      const Gradients a = run(x, layer, dy, linear), b = run(x, layer, dy, torch_linear);
      const at::Tensor x_MK = wide(x).view({-1, 18}), dy_MN = wide(dy).view({-1, 27});
      const at::Tensor w_NK = wide(layer.weight);
      SCOPED_TRACE(type);
      EXPECT_EQ(a.y.scalar_type(), type);
      EXPECT_EQ(a.dw.scalar_type(), master);
      const at::Tensor y = (product(x_MK, w_NK) + wide(layer.bias)).view(a.y.sizes());
      expect_as_good_as_torch(a.y, b.y, y, "y");
      expect_as_good_as_torch(a.dx, b.dx, product(dy_MN, w_NK.t()).view(x.sizes()), "dx");
      expect_as_good_as_torch(a.dw, b.dw, product(dy_MN.t(), x_MK.t()), "dw");
      expect_as_good_as_torch(a.db, b.db, dy_MN.sum(0), "db");
    }
  });
}

// Without gradients a few rows take a kernel of their own.
TEST(Linear, FewRowsAreAsGoodAsTorchAtEveryLevel) {
  const c10::NoGradGuard no_grad;
  at_every_level([] {
    for (const auto type : {at::kFloat, at::kBFloat16}) {
      for (const int64_t M : {1, 2, 3, 7, 8}) {
        for (const auto& [K, N] : {std::pair<int64_t, int64_t>{1, 1}, {37, 6}, {576, 131}}) {
          SCOPED_TRACE(testing::Message() << type << " " << M << " " << K << " " << N);
          const at::Tensor x = random_normal({M, K}, 1).to(type);
          const at::Tensor w = random_normal({N, K}, 2).to(type);
          const at::Tensor bias = random_normal({N}, 3).to(at::kFloat);
          const at::Tensor want = product(wide(x), wide(w)) + wide(bias);
          const at::Tensor torch = at::linear(x, w, bias.to(type));
          expect_as_good_as_torch(linear(x, {w, bias}), torch, want, "few rows");
        }
      }
    }
  });
}

TEST(ActivatedLinear, IsTheLinearLayerOfTheActivationBitForBit) {
  for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble}) {
    const auto master = type == at::kDouble ? at::kDouble : at::kFloat;
    for (const Mlp kind : {Mlp::SwiGlu, Mlp::GeGlu, Mlp::Gelu}) {
      const int64_t F = kind == Mlp::Gelu ? 34 : 17;
      const at::Tensor up = random_normal({2, 9, 34}, 1).to(type);
      const LinearLayer layer{random_normal({8, F}, 2).to(master),
                              random_normal({8}, 3).to(master)};
      const at::Tensor dy = random_normal({2, 9, 8}, 4).to(type);
      const Gradients a = run(up, layer, dy, [&](const at::Tensor& x, const LinearLayer& l) {
        return activated_linear(x, kind, l);
      });
      const Gradients b = run(up, layer, dy, [&](const at::Tensor& x, const LinearLayer& l) {
        return linear(apply_activation(x, kind), l);
      });
      EXPECT_TRUE(at::equal(a.y, b.y));
      EXPECT_TRUE(at::equal(a.dx, b.dx));
      EXPECT_TRUE(at::equal(a.dw, b.dw));
      EXPECT_TRUE(at::equal(a.db, b.db));
    }
  }
}

TEST(Linear, ComputesOnlyTheGradientsThatAreWanted) {
  const at::Tensor x = random_normal({3, 4}, 1).to(at::kFloat).set_requires_grad(true);
  const at::Tensor weight = random_normal({2, 4}, 2).to(at::kFloat);
  linear(x, {weight, {}}).sum().backward();
  EXPECT_TRUE(x.grad().defined());
  EXPECT_FALSE(weight.grad().defined());
}

TEST(Linear, RefusesWhatDoesNotFit) {
  const auto text = [](const std::function<void()>& action) -> std::string {
    try {
      action();
    } catch (const c10::ValueError& error) {
      return error.what_without_backtrace();
    }
    return "";
  };
  const at::Tensor x = at::empty({2, 6}, at::kFloat), w = at::empty({3, 5}, at::kFloat);
  EXPECT_EQ(text([&] {
              linear(x, {w, {}});
            }),
            "linear layer: the input has 6 channels, the weight is [3, 5] [out, in]; input [2, 6]");
  EXPECT_EQ(text([&] {
              activated_linear(x, Mlp::SwiGlu, {w, {}});
            }),
            "linear layer: the input has 3 channels, the weight is [3, 5] [out, in]; input [2, 6]");
}

}  // namespace
}  // namespace gyre::model
