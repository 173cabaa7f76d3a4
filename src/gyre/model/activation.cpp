#include "gyre/model/activation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/gelu_backward.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

#include "gyre/model/cpu/activation.h"
#include "gyre/tensor/parallel.h"
#include "gyre/tensor/work.h"

namespace gyre::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kGrain = 16'384;  // values of the result per piece of parallel work, at least

cpu::Elements elements_of(const at::Tensor& x) {
  const at::ScalarType type = x.scalar_type();
  TORCH_CHECK_VALUE(type == at::kFloat || type == at::kBFloat16 || type == at::kDouble,
                    "activation: expected float32, bfloat16 or float64, got ", type);
  return type == at::kFloat      ? cpu::Elements::F32
         : type == at::kBFloat16 ? cpu::Elements::Bf16
                                 : cpu::Elements::F64;
}

cpu::Curve curve_of(Mlp kind) {
  return kind == Mlp::SwiGlu  ? cpu::Curve::Silu
         : kind == Mlp::GeGlu ? cpu::Curve::GeluTanh
                              : cpu::Curve::Gelu;
}

int64_t result_width(const at::Tensor& up, Mlp kind) {
  if (kind == Mlp::Gelu) {
    return up.size(-1);
  }
  TORCH_CHECK_VALUE(up.size(-1) % 2 == 0,
                    "activation: gate and up are halves of the last dim, got ", up.size(-1),
                    " values");
  return up.size(-1) / 2;
}

void run(cpu::ActivationKernel kernel, const cpu::ActivationRows& rows, int64_t n_rows) {
  parallel_for(0, n_rows, std::max<int64_t>(1, kGrain / std::max<int64_t>(rows.F, 1)),
               [&](int64_t begin, int64_t end) { kernel(rows, begin, end); });
}

at::Tensor value_of(const at::Tensor& input, Mlp kind) {
  const int64_t F = result_width(input, kind);
  if (!input.is_cpu()) {
    const auto halves = input.chunk(kind == Mlp::Gelu ? 1 : 2, -1);
    return kind == Mlp::Gelu     ? at::gelu(input)
           : kind == Mlp::SwiGlu ? at::silu(halves[0]) * halves[1]
                                 : at::gelu(halves[0], "tanh") * halves[1];
  }
  const at::Tensor up = input.contiguous();
  std::vector<int64_t> sizes = up.sizes().vec();
  sizes.back() = F;
  const at::Tensor out = at::empty(sizes, up.options().requires_grad(false));
  const auto curve = static_cast<int>(curve_of(kind)), type = static_cast<int>(elements_of(up));
  GYRE_WORK("gyre::activation", 0.0, up.nbytes() + out.nbytes());
  run(activation_kernels().forward[curve][type],
      {up.const_data_ptr(), out.mutable_data_ptr(), nullptr, nullptr, F},
      out.numel() / std::max<int64_t>(F, 1));
  return out;
}

at::Tensor composed_gradient(const at::Tensor& up, const at::Tensor& dout, Mlp kind) {
  if (kind == Mlp::Gelu) {
    return at::gelu_backward(dout, up);
  }
  const auto halves = up.chunk(2, -1);
  const bool silu = kind == Mlp::SwiGlu;
  const at::Tensor dgate = dout * halves[1];
  return at::cat(
      {silu ? at::silu_backward(dgate, halves[0]) : at::gelu_backward(dgate, halves[0], "tanh"),
       dout * (silu ? at::silu(halves[0]) : at::gelu(halves[0], "tanh"))},
      -1);
}

class Activation : public torch::autograd::Function<Activation> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& up, Mlp kind) {
    ctx->save_for_backward({up});
    ctx->saved_data["kind"] = static_cast<int64_t>(kind);
    return value_of(up, kind);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto kind = static_cast<Mlp>(ctx->saved_data["kind"].toInt());
    return {activation_gradient(ctx->get_saved_variables()[0], grads[0], kind), {}};
  }
};

}  // namespace

at::Tensor activation_gradient(const at::Tensor& input, const at::Tensor& gradient, Mlp kind) {
  if (!input.is_cpu()) {
    return composed_gradient(input, gradient, kind);
  }
  const int64_t F = result_width(input, kind);
  const at::Tensor up = input.contiguous(), dout = gradient.contiguous();
  const at::Tensor dup = at::empty(up.sizes(), up.options().requires_grad(false));
  const auto curve = static_cast<int>(curve_of(kind)), type = static_cast<int>(elements_of(up));
  GYRE_WORK("gyre::activation_backward", 0.0, 2 * up.nbytes() + dout.nbytes());
  run(activation_kernels().backward[curve][type],
      {up.const_data_ptr(), nullptr, dout.const_data_ptr(), dup.mutable_data_ptr(), F},
      dout.numel() / std::max<int64_t>(F, 1));
  return dup;
}

at::Tensor apply_activation(const at::Tensor& up, Mlp kind) {
  elements_of(up);
  return Activation::apply(up, kind);
}

}  // namespace gyre::model
