#include "gyre/analyze/offset_signal.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cos.h>
#include <ATen/ops/sin.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include <array>

#include "gyre/evaluate/band_content.h"

namespace gyre::analyze {
namespace {

constexpr std::array<int64_t, 2> kOverBatchAndQueries = {0, 2};

/// [H, P] -> [G, P]: the heads of a group together.
at::Tensor by_group(const at::Tensor& x_HP, int64_t G) {
  return x_HP.view({G, x_HP.size(0) / G, -1}).sum(1);
}

}  // namespace

at::Tensor offset_signal(const at::Tensor& gradient, const at::Tensor& q, const at::Tensor& k,
                         const at::Tensor& theta, const position::PositionPlan& plan,
                         double scale) {
  const c10::NoGradGuard no_grad;
  const int64_t T = q.size(2), G = k.size(1), repeat = q.size(1) / G;
  const evaluate::Channels zq = evaluate::channels(q, plan);
  const evaluate::Channels zk_G = evaluate::channels(k, plan);
  const evaluate::Channels zk{zk_G.re.repeat_interleave(repeat, 1),
                              zk_G.im.repeat_interleave(repeat, 1)};
  std::vector<at::Tensor> re, im;
  for (int64_t d = 0; d < T; ++d) {
    const int64_t n = T - d;  // pairs (i, j) = (d + t, t)
    const at::Tensor g = gradient.diagonal(-d, 2, 3).unsqueeze(-1) * scale;  // [B, H, n, 1]
    const at::Tensor qr = zq.re.narrow(2, d, n), qi = zq.im.narrow(2, d, n);
    const at::Tensor kr = zk.re.narrow(2, 0, n), ki = zk.im.narrow(2, 0, n);
    re.push_back(by_group((g * (qr * kr + qi * ki)).sum(kOverBatchAndQueries), G));
    im.push_back(by_group((g * (qi * kr - qr * ki)).sum(kOverBatchAndQueries), G));
  }
  // What was rotated carries e^{i d theta}; A does not.
  const at::Tensor turned_re = at::stack(re, -1), turned_im = at::stack(im, -1);  // [G, P, T]
  const at::Tensor angle = theta.detach().unsqueeze(-1) * at::arange(T, at::kDouble);
  const at::Tensor c = at::cos(angle), s = at::sin(angle);
  return at::stack({turned_re * c + turned_im * s, turned_im * c - turned_re * s});
}

}  // namespace gyre::analyze
