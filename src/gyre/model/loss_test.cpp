// Linear layer + cross-entropy against plain loops in double, by the 2x rule.
#include "gyre/model/loss.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "gyre/model/kernels_testing.h"

namespace gyre::model {
namespace {

struct Problem {
  at::Tensor x, head, targets, weights;  // x in the compute type, the rest in the master type
};

Problem make_problem(int64_t M, int64_t C, int64_t V, at::ScalarType type, double spread = 1.0) {
  const auto master = type == at::kDouble ? at::kDouble : at::kFloat;
  return {random_normal({M, C}, 1).to(type), random_normal({V, C}, 2, spread).to(type).to(master),
          at::randint(V, {M}, at::make_generator<at::CPUGeneratorImpl>(3),
                      at::TensorOptions().dtype(at::kLong)),
          random_normal({M}, 4, 0.3).to(master)};
}

struct Results {
  at::Tensor nll, dx, dhead;
};

/// By loops: nll = log sum exp(logits) - logit of the target; its gradient is softmax - one hot.
Results reference(const Problem& p) {
  const at::Tensor x_MC = p.x.to(at::kDouble), head_VC = p.head.to(at::kDouble);
  const at::Tensor weights_M = p.weights.to(at::kDouble);
  const auto x = x_MC.accessor<double, 2>(), head = head_VC.accessor<double, 2>();
  const auto weights = weights_M.accessor<double, 1>();
  const int64_t M = x.size(0), C = x.size(1), V = head.size(0);
  Results r{at::zeros({M}, at::kDouble), at::zeros({M, C}, at::kDouble),
            at::zeros({V, C}, at::kDouble)};
  auto nll = r.nll.accessor<double, 1>();
  auto dx = r.dx.accessor<double, 2>(), dhead = r.dhead.accessor<double, 2>();
  std::vector<double> logits(V);
  for (int64_t m = 0; m < M; ++m) {
    const auto target = p.targets[m].item<int64_t>();
    double sum = 0.0;
    for (int64_t v = 0; v < V; ++v) {
      logits[v] = 0.0;
      for (int64_t c = 0; c < C; ++c) {
        logits[v] += x[m][c] * head[v][c];
      }
      sum += std::exp(logits[v]);
    }
    nll[m] = std::log(sum) - logits[target];
    for (int64_t v = 0; v < V; ++v) {
      const double d = weights[m] * (std::exp(logits[v]) / sum - (v == target ? 1.0 : 0.0));
      for (int64_t c = 0; c < C; ++c) {
        dx[m][c] += d * head[v][c];
        dhead[v][c] += d * x[m][c];
      }
    }
  }
  return r;
}

template <class F>
Results run(const Problem& p, const F& nll_or_loss) {
  const at::Tensor x = p.x.clone().set_requires_grad(true);
  const at::Tensor head = p.head.clone().set_requires_grad(true);
  const at::Tensor out = nll_or_loss(x, head);
  (out.dim() == 0 ? out : (out * p.weights).sum()).backward();
  return {out.detach(), x.grad(), head.grad()};
}

void compare(const Problem& p) {
  const auto master = p.head.scalar_type();
  const Results want = reference(p);
  const Results torch = run(p, [&](const at::Tensor& x, const at::Tensor& head) {
    const at::Tensor logits = at::linear(x, head.to(x.scalar_type())).to(master);
    return -at::log_softmax(logits, 1).gather(1, p.targets.unsqueeze(1)).squeeze(1);
  });
  const Results each = run(p, [&](const at::Tensor& x, const at::Tensor& head) {
    return linear_nll(x, head, p.targets);
  });
  const Results sum = run(p, [&](const at::Tensor& x, const at::Tensor& head) {
    return linear_loss(x, head, p.targets, p.weights);
  });
  EXPECT_EQ(each.nll.scalar_type(), master);
  EXPECT_EQ(each.dhead.scalar_type(), master);
  expect_as_good_as_torch(each.nll, torch.nll, want.nll, "nll");
  expect_as_good_as_torch(each.dx, torch.dx, want.dx, "dx");
  expect_as_good_as_torch(each.dhead, torch.dhead, want.dhead, "dhead");
  EXPECT_TRUE(at::equal(each.dx, sum.dx));  // the fused form does the same sums
  EXPECT_TRUE(at::equal(each.dhead, sum.dhead));
  const at::Tensor total = (each.nll.to(at::kDouble) * p.weights).sum();
  EXPECT_NEAR(sum.nll.item<double>(), total.item<double>(),
              1e-6 * std::abs(total.item<double>()) + 1e-12);
}

TEST(LinearLoss, IsAsGoodAsTorchAtEveryLevelTypeAndSize) {
  at_every_level([] {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      SCOPED_TRACE(type);
      compare(make_problem(1, 1, 1, type));
      compare(make_problem(1, 5, 37, type));
      compare(make_problem(40, 8, 33, type));
    }
  });
}

TEST(LinearLoss, SumsOverChunks) {
  // 8,192 float logits are 32 KiB a row: 256 rows a chunk, the last one a part.
  for (const auto type : {at::kFloat, at::kBFloat16}) {
    SCOPED_TRACE(type);
    compare(make_problem(300, 3, 8193, type));
  }
}

TEST(LinearLoss, TakesLargeLogits) {
  at_every_level([] {
    for (const auto type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      const Problem p = make_problem(4, 6, 21, type, 300.0);
      const Results r = run(p, [&](const at::Tensor& x, const at::Tensor& head) {
        return linear_loss(x, head, p.targets, p.weights);
      });
      EXPECT_TRUE(std::isfinite(r.nll.item<double>()));
      EXPECT_TRUE(std::isfinite(r.dhead.abs().sum().item<double>()));
    }
    // All logits far below 0: the padding of a row must not count as its largest.
    const at::Tensor x = at::full({2, 1}, 1.0, at::kFloat),
                     head = at::full({21, 1}, -2000.0, at::kFloat);
    const at::Tensor nll = linear_nll(x, head, at::zeros({2}, at::kLong));
    EXPECT_NEAR(nll[0].item<double>(), std::log(21.0), 1e-5);
  });
}

TEST(LinearLoss, ANanLogitShows) {
  at_every_level([] {
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kDouble}) {
      Problem p = make_problem(3, 8, 37, type);
      p.head[5].fill_(std::numeric_limits<double>::quiet_NaN());
      p.targets.fill_(1);
      EXPECT_TRUE(linear_nll(p.x, p.head, p.targets).isnan().all().item<bool>()) << type;
      EXPECT_TRUE(linear_loss(p.x, p.head, p.targets, p.weights).isnan().item<bool>()) << type;
    }
  });
}

TEST(LinearLoss, ScalesWithTheGradientOfTheLoss) {
  const Problem p = make_problem(9, 4, 11, at::kFloat);
  const auto loss = [&](double factor) {
    return run(p, [&](const at::Tensor& x, const at::Tensor& head) {
      return linear_loss(x, head, p.targets, p.weights) * factor;
    });
  };
  const Results one = loss(1.0), two = loss(2.0);
  EXPECT_TRUE(at::equal(two.dx, one.dx * 2.0));
  EXPECT_TRUE(at::equal(two.dhead, one.dhead * 2.0));
}

TEST(LinearLoss, HasTheSameValueWithoutGradient) {
  const Problem p = make_problem(9, 4, 11, at::kBFloat16);
  const Results with = run(p, [&](const at::Tensor& x, const at::Tensor& head) {
    return linear_loss(x, head, p.targets, p.weights);
  });
  const c10::NoGradGuard no_grad;
  EXPECT_TRUE(at::equal(linear_loss(p.x, p.head, p.targets, p.weights), with.nll));
}

TEST(LinearLoss, RefusesWhatDoesNotFit) {
  const auto text = [](const std::function<void()>& action) -> std::string {
    try {
      action();
    } catch (const c10::ValueError& error) {
      return error.what_without_backtrace();
    }
    return "";
  };
  const Problem p = make_problem(3, 4, 5, at::kFloat);
  EXPECT_EQ(text([&] { linear_nll(p.x.narrow(1, 0, 2), p.head, p.targets); }),
            "loss: x must be [M, C] and the head [V, C], got [3, 2] and [5, 4]");
  EXPECT_EQ(text([&] { linear_nll(p.x, p.head, p.targets.narrow(0, 0, 2)); }),
            "loss: targets must be [3] int64, got [2] Long");
  EXPECT_EQ(text([&] { linear_nll(p.x, p.head, at::full({3}, 5, at::kLong)); }),
            "loss: targets must be in [0, 5), got 5");
  EXPECT_EQ(text([&] { linear_loss(p.x, p.head, p.targets, p.weights.to(at::kDouble)); }),
            "loss: weights must be [3] Float, got [3] Double");
}

}  // namespace
}  // namespace gyre::model
