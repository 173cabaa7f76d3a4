// Norms with and without the residual sum: against plain loops in double, by the 2x rule.
#include "gyre/model/norm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rms_norm.h>

#include <cmath>
#include <functional>
#include <vector>

#include "gyre/model/kernels_testing.h"

namespace gyre::model {
namespace {

constexpr double kEps = 1e-5;

struct Case {
  at::ScalarType stream, dtype;  // of x and of the norm
  Norm kind;
  int64_t M, C;
};

/// Inputs and everything the formulas give, in double.
struct Reference {
  at::Tensor x, delta, weight, bias, dsum, dnorm;  // inputs and gradients of the results
  at::Tensor sum, norm, dx, dweight, dbias;        // results
};

/// One row by the textbook: dx = dsum + rstd (g - mean g - y_hat mean(g y_hat)), g = dnorm *
/// weight; RMS norm has no mean to subtract (Zhang & Sennrich 2019, arXiv:1910.07467).
void row_reference(const Reference& r, Norm kind, int64_t m, int64_t C) {
  const auto row = [&](const at::Tensor& t) { return t.mutable_data_ptr<double>() + m * C; };
  const double *x = row(r.x), *delta = row(r.delta), *dsum = row(r.dsum), *dn = row(r.dnorm);
  const double *w = r.weight.const_data_ptr<double>(), *b = r.bias.const_data_ptr<double>();
  double *sum = row(r.sum), *norm = row(r.norm), *dx = row(r.dx);
  double *dw = r.dweight.mutable_data_ptr<double>(), *db = r.dbias.mutable_data_ptr<double>();
  double mean = 0.0, square = 0.0, g_mean = 0.0, gy_mean = 0.0;
  const auto n = static_cast<double>(C);
  for (int64_t c = 0; c < C; ++c) {
    sum[c] = x[c] + delta[c];
    mean += kind == Norm::Layer ? sum[c] / n : 0.0;
  }
  for (int64_t c = 0; c < C; ++c) {
    square += (sum[c] - mean) * (sum[c] - mean) / n;
  }
  const double rstd = 1.0 / std::sqrt(square + kEps);
  for (int64_t c = 0; c < C; ++c) {
    const double y_hat = (sum[c] - mean) * rstd;
    norm[c] = y_hat * w[c] + (kind == Norm::Layer ? b[c] : 0.0);
    g_mean += kind == Norm::Layer ? dn[c] * w[c] / n : 0.0;
    gy_mean += dn[c] * w[c] * y_hat / n;
    dw[c] += dn[c] * y_hat;
    db[c] += dn[c];
  }
  for (int64_t c = 0; c < C; ++c) {
    dx[c] = dsum[c] + rstd * (dn[c] * w[c] - g_mean - (sum[c] - mean) * rstd * gy_mean);
  }
}

Reference make_reference(const Case& each) {
  const auto zeros = [](at::IntArrayRef sizes) { return random_normal(sizes, 1, 0.0); };
  const at::ScalarType s = each.stream, t = each.dtype;
  // Rounded first, so that the kernel and the reference read the same numbers.
  const auto rounded = [](const at::Tensor& x, at::ScalarType type) {
    return x.to(type).to(at::kDouble);
  };
  const std::vector<int64_t> rows = {each.M, each.C};
  Reference r{.x = rounded(random_normal(rows, 1) + 0.3, s),
              .delta = rounded(random_normal(rows, 2), t),
              .weight = rounded(random_normal({each.C}, 3) + 1.0, at::kFloat),
              .bias = rounded(random_normal({each.C}, 4), at::kFloat),
              .dsum = rounded(random_normal(rows, 5), s),
              .dnorm = rounded(random_normal(rows, 6), t),
              .sum = zeros(rows),
              .norm = zeros(rows),
              .dx = zeros(rows),
              .dweight = zeros({each.C}),
              .dbias = zeros({each.C})};
  for (int64_t m = 0; m < each.M; ++m) {
    row_reference(r, each.kind, m, each.C);
  }
  return r;
}

struct Leaves {
  at::Tensor x, delta, weight, bias;
};
Leaves leaves_of(const Reference& r, const Case& each) {
  const at::ScalarType wide = each.stream == at::kDouble ? at::kDouble : at::kFloat;
  return {r.x.to(each.stream).clone().set_requires_grad(true),
          r.delta.to(each.dtype).clone().set_requires_grad(true),
          r.weight.to(wide).clone().set_requires_grad(true),
          r.bias.to(wide).clone().set_requires_grad(true)};
}

Normed torch_norm(const Leaves& in, const Case& each) {
  const at::Tensor sum = in.x + in.delta;
  const at::Tensor wide = sum.to(in.weight.scalar_type());
  const at::Tensor out = each.kind == Norm::Rms
                             ? at::rms_norm(wide, {each.C}, in.weight, kEps)
                             : at::layer_norm(wide, {each.C}, in.weight, in.bias, kEps);
  return {sum, out.to(each.dtype)};
}

void compare(const Case& each) {
  const Reference r = make_reference(each);
  const Leaves mine = leaves_of(r, each), theirs = leaves_of(r, each);
  const Normed a =
      add_norm(mine.x, mine.delta, {mine.weight, mine.bias, each.kind, kEps}, each.dtype);
  const Normed b = torch_norm(theirs, each);
  EXPECT_EQ(a.norm.scalar_type(), each.dtype);
  // One backward for both results, as in a model; sums of products have these gradients.
  const auto gradient = [&](const Normed& out) {
    ((out.sum * r.dsum.to(each.stream)).sum().to(at::kDouble) +
     (out.norm * r.dnorm.to(each.dtype)).sum().to(at::kDouble))
        .backward();
  };
  gradient(a);
  gradient(b);
  expect_as_good_as_torch(a.sum, b.sum, r.sum, "sum");
  expect_as_good_as_torch(a.norm, b.norm, r.norm, "norm");
  expect_as_good_as_torch(mine.x.grad(), theirs.x.grad(), r.dx, "dx");
  expect_as_good_as_torch(mine.delta.grad(), theirs.delta.grad(), r.dx, "ddelta");
  expect_as_good_as_torch(mine.weight.grad(), theirs.weight.grad(), r.dweight, "dweight");
  if (each.kind == Norm::Layer) {
    expect_as_good_as_torch(mine.bias.grad(), theirs.bias.grad(), r.dbias, "dbias");
  }
}

TEST(AddNorm, IsAsGoodAsTorchAtEveryLevelTypeAndSize) {
  at_every_level([] {
    for (const auto& [stream, dtype] : {std::pair(at::kFloat, at::kFloat),
                                        {at::kFloat, at::kBFloat16},
                                        {at::kDouble, at::kDouble}}) {
      for (const Norm kind : {Norm::Rms, Norm::Layer}) {
        for (const int64_t C : {1, 7, 16, 33, 96}) {
          for (const int64_t M : {1, 3, 150}) {
            SCOPED_TRACE(testing::Message() << dtype << " C " << C << " M " << M << " layer norm "
                                            << (kind == Norm::Layer));
            compare({stream, dtype, kind, M, C});
          }
        }
      }
    }
  });
}

TEST(ApplyNorm, ReadsHeadsOfAWiderTensorInPlace) {
  at_every_level([] {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      const auto wide = type == at::kDouble ? at::kDouble : at::kFloat;
      const at::Tensor weight = (random_normal({5}, 2) + 1.0).to(wide);
      const at::Tensor packed = random_normal({2, 6, 40}, 3).to(type).set_requires_grad(true);
      const at::Tensor copied = packed.detach().clone().set_requires_grad(true);
      const at::Tensor dout = random_normal({2, 6, 3, 5}, 4).to(type);
      const auto heads = [](const at::Tensor& x) { return x.narrow(2, 7, 15).view({2, 6, 3, 5}); };
      const NormLayer norm{weight, {}, Norm::Rms, kEps};
      const at::Tensor view = apply_norm(heads(packed), norm, type);
      const at::Tensor copy =
          apply_norm(heads(copied).clone(at::MemoryFormat::Contiguous), norm, type);
      EXPECT_TRUE(at::equal(view, copy));
      (view * dout).sum().backward();
      (copy * dout).sum().backward();
      EXPECT_TRUE(at::equal(packed.grad(), copied.grad()));
      const at::Tensor odd = apply_norm(heads(copied).transpose(0, 2), norm, type);
      EXPECT_TRUE(at::equal(odd, copy.transpose(0, 2)));  // no layout the kernel knows
    }
  });
}

TEST(AddNorm, PassesOnTheGradientOfTheSumAlone) {
  for (const auto dtype : {at::kFloat, at::kBFloat16}) {
    const at::Tensor x = random_normal({3, 4}, 1).to(at::kFloat).set_requires_grad(true);
    const at::Tensor delta = random_normal({3, 4}, 2).to(dtype).set_requires_grad(true);
    const at::Tensor weight = random_normal({4}, 3).to(at::kFloat).set_requires_grad(true);
    (add_norm(x, delta, {weight, {}, Norm::Rms, kEps}, dtype).sum * 2.0).sum().backward();
    EXPECT_EQ((x.grad() - 2.0).abs().max().item<double>(), 0.0);
    EXPECT_EQ((delta.grad() - 2.0).abs().max().item<double>(), 0.0);
    EXPECT_EQ(delta.grad().scalar_type(), dtype);
    EXPECT_FALSE(weight.grad().defined());
  }
}

std::string value_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(Norm, RefusesWhatDoesNotFit) {
  const at::Tensor x = at::empty({2, 4}, at::kFloat), w = at::empty({4}, at::kFloat);
  EXPECT_EQ(value_error([&] {
              apply_norm(x, {w, {}}, at::kDouble);
            }),
            "norm: a Float input cannot give a Double result; it gives its own type, or bfloat16 "
            "from float32");
  EXPECT_EQ(value_error([&] {
              apply_norm(x, {at::empty({3}, at::kFloat), {}}, at::kFloat);
            }),
            "norm: weights must be [4] Float, got [3] Float");
  EXPECT_EQ(value_error([&] {
              add_norm(x, x, {w, {}}, at::kBFloat16);
            }),
            "norm: the addend must be [2, 4] BFloat16, got [2, 4] Float");
}

}  // namespace
}  // namespace gyre::model
