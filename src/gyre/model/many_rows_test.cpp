// Linear layers of many rows against plain loops in double, by the 2x rule, with and without what
// follows them.
#include "gyre/model/many_rows.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <vector>

#include "gyre/model/activation.h"
#include "gyre/model/kernels_testing.h"

namespace gyre::model {
namespace {

struct Sizes {
  int64_t M, K, N;
};
// Around tiles of 64 rows and their vectors of 16, pieces of 96 (48 gated) outputs, register tiles
// of 6, and packed vectors of 32 channels.
const std::vector<Sizes> kSizes = {{64, 2, 1},    {64, 32, 96},  {65, 34, 5},
                                   {80, 66, 97},  {97, 30, 48},  {128, 64, 50},
                                   {150, 4, 193}, {192, 96, 31}, {600, 34, 7}};

LinearLayer layer_of(int64_t n_rows, int64_t K, bool bias) {
  return {random_normal({n_rows, K}, 2).to(at::kBFloat16),
          bias ? random_normal({n_rows}, 3).to(at::kFloat) : at::Tensor()};
}

double activated(double x, Mlp kind) {
  const double z = std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x);
  return kind == Mlp::SwiGlu  ? x / (1.0 + std::exp(-x))
         : kind == Mlp::GeGlu ? 0.5 * x * (1.0 + std::tanh(z))
                              : 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

/// The slow twin: loops in double.
at::Tensor reference(const at::Tensor& input, const LinearLayer& layer, std::optional<Mlp> kind) {
  const at::Tensor wide_x = input.to(at::kDouble).contiguous();
  const at::Tensor wide_w = layer.weight.to(at::kDouble);
  const auto x = wide_x.accessor<double, 2>(), w = wide_w.accessor<double, 2>();
  const int64_t n_rows = w.size(0), N = kind && *kind != Mlp::Gelu ? n_rows / 2 : n_rows;
  at::Tensor out = at::zeros({x.size(0), N}, at::kDouble);
  auto y = out.accessor<double, 2>();
  const auto sum = [&](int64_t m, int64_t n) {
    double total = layer.bias.defined() ? layer.bias[n].item<double>() : 0.0;
    for (int64_t k = 0; k < x.size(1); ++k) {
      total += x[m][k] * w[n][k];
    }
    return total;
  };
  for (int64_t m = 0; m < x.size(0); ++m) {
    for (int64_t n = 0; n < N; ++n) {
      y[m][n] = kind ? activated(sum(m, n), *kind) : sum(m, n);
      y[m][n] *= N < n_rows ? sum(m, N + n) : 1.0;
    }
  }
  return out;
}

TEST(ManyRows, AreAsGoodAsTorchAtEveryLevelSizeAndActivation) {
  const c10::NoGradGuard no_grad;
  for (const Sizes& s : kSizes) {
    const at::Tensor x = random_normal({s.M, s.K}, 1).to(at::kBFloat16);
    for (const bool bias : {false, true}) {
      for (const auto kind :
           std::vector<std::optional<Mlp>>{std::nullopt, Mlp::SwiGlu, Mlp::GeGlu, Mlp::Gelu}) {
        const bool gated = kind && *kind != Mlp::Gelu;
        const LinearLayer layer = layer_of(gated ? 2 * s.N : s.N, s.K, bias);
        const at::Tensor want = reference(x, layer, kind);
        const at::Tensor plain =
            at::linear(x, layer.weight, bias ? layer.bias.to(at::kBFloat16) : layer.bias);
        const at::Tensor torch = kind ? apply_activation(plain, *kind) : plain;
        at_every_level([&] {
          SCOPED_TRACE(testing::Message()
                       << s.M << " " << s.K << " " << s.N << " bias " << bias << " activation "
                       << (kind ? static_cast<int>(*kind) : -1));
          if (many_rows(x, layer)) {
            expect_as_good_as_torch(linear_of_many_rows(x, layer, kind), torch, want, "kernel");
          }
          if (!kind) {
            expect_as_good_as_torch(linear(x, layer), torch, want, "linear");
          }
        });
      }
    }
  }
}

TEST(ManyRows, AreTakenWithoutGradientsInBfloat16FromWholeTilesOn) {
  const LevelGuard guard;
  set_isa(best_isa());
  const at::Tensor x = random_normal({64, 32}, 1).to(at::kBFloat16);
  const LinearLayer layer = layer_of(5, 32, false);
  EXPECT_FALSE(many_rows(x, layer)) << "gradients are on";
  const c10::NoGradGuard no_grad;
  EXPECT_EQ(many_rows(x, layer), isa() == Isa::Avx512Bf16);
  EXPECT_FALSE(many_rows(x.narrow(0, 0, 63), layer));
  EXPECT_FALSE(many_rows(x.narrow(1, 0, 31), layer_of(5, 31, false))) << "odd";
  EXPECT_FALSE(many_rows(x.to(at::kFloat), {layer.weight.to(at::kFloat), {}}));
  set_isa(Isa::Generic);
  EXPECT_FALSE(many_rows(x, layer));
}

// Sums do not depend on who else is in the pass, nor on how rows lie in memory.
TEST(ManyRows, GiveEveryRowTheSameBitsWhereverItStands) {
  const c10::NoGradGuard no_grad;
  const at::Tensor x = random_normal({150, 66}, 1).to(at::kBFloat16);
  const LinearLayer layer = layer_of(70, 66, true);
  if (!many_rows(x, layer)) {
    GTEST_SKIP() << "no bfloat16 products in vector registers here";
  }
  const at::Tensor all = linear(x, layer);
  EXPECT_TRUE(at::equal(linear(x.narrow(0, 41, 100), layer), all.narrow(0, 41, 100)));
  EXPECT_TRUE(at::equal(linear(x.view({2, 75, 66}), layer).view({150, 70}), all));
  EXPECT_TRUE(at::equal(linear(at::cat({x, x}, 1).narrow(1, 0, 66), layer), all));
}

TEST(ManyRows, MlpEqualsItsLayersOneByOne) {
  const c10::NoGradGuard no_grad;
  for (const Mlp kind : {Mlp::SwiGlu, Mlp::GeGlu, Mlp::Gelu}) {
    const at::Tensor x = random_normal({70, 24}, 1, 0.3);
    const LinearLayer up{random_normal({kind == Mlp::Gelu ? 40 : 80, 24}, 2, 0.2), {}};
    const LinearLayer down{random_normal({24, 40}, 3, 0.2), {}};
    const at::Tensor want = at::linear(reference(x, up, kind), down.weight);
    EXPECT_LE((mlp(x, up, kind, down) - want).abs().max().item<double>(), 1e-9);
    const auto narrow = [](const at::Tensor& t) { return t.to(at::kBFloat16); };
    const at::Tensor got = mlp(narrow(x), {narrow(up.weight), {}}, kind, {narrow(down.weight), {}});
    // bfloat16 keeps 8 bits of x, both weights and what lies between.
    EXPECT_LE((got - want).abs().max().item<double>(), 4.0 / 256 * want.abs().max().item<double>());
  }
}

TEST(ManyRows, SayWhenGateAndUpAreNoHalves) {
  const c10::NoGradGuard no_grad;
  const at::Tensor x = random_normal({64, 32}, 1).to(at::kBFloat16);
  try {
    linear_of_many_rows(x, layer_of(5, 32, false), Mlp::SwiGlu);
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "linear layer: gate and up are halves of the outputs, got 5");
  }
}

}  // namespace
}  // namespace gyre::model
