#include "gyre/model/linear.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "gyre/model/activation.h"
#include "gyre/model/cpu/few_rows.h"
#include "gyre/model/cpu/weight_gradient.h"
#include "gyre/model/many_rows.h"
#include "gyre/tensor/parallel.h"
#include "gyre/tensor/work.h"

namespace gyre::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kPackedBytes = 2 << 20;  // of x at once: packed and used while in the cache

int64_t rounded_up(int64_t n, int64_t step) {
  return (n + step - 1) / step * step;
}

/// The kernel of the level in force; null where a product of torch's and a sum are better.
const cpu::WeightGradientTable* own_kernels(const at::Tensor& dw, const at::Tensor& x) {
  const bool fits =
      x.is_cpu() && x.scalar_type() == at::kBFloat16 && dw.scalar_type() == at::kFloat;
  // On tile registers torch's own product is several times faster than vector instructions.
  if (!fits || isa() == Isa::Amx || weight_gradient_kernels().tiles == nullptr) {
    return nullptr;
  }
  return &weight_gradient_kernels();
}

void run(const cpu::WeightGradientTable& kernels, const cpu::WeightGradient& whole) {
  const int64_t rows = std::max(kPackedBytes / (2 * whole.K) / cpu::kGradientDepth, int64_t{1}) *
                       cpu::kGradientDepth;
  const int64_t n_panels = rounded_up(whole.K, cpu::kGradientColumns) / cpu::kGradientColumns;
  const int64_t n_tiles = rounded_up(whole.N, cpu::kGradientRows) / cpu::kGradientRows;
  const int64_t most_pairs = (std::min(rows, whole.M) + 1) / 2;
  const at::Tensor packed = at::empty({n_panels * most_pairs * cpu::kGradientColumns}, at::kInt);
  cpu::WeightGradient part = whole;
  part.packed_x = static_cast<uint32_t*>(packed.mutable_data_ptr());
  for (int64_t m = 0; m < whole.M; m += rows) {
    part.M = std::min(rows, whole.M - m);
    part.dy = whole.dy + m * whole.N;
    part.x = whole.x + m * whole.K;
    part.fresh = whole.fresh && m == 0;
    parallel_for(0, n_panels, 1,
                 [&](int64_t begin, int64_t end) { kernels.pack(part, begin, end); });
    parallel_for(0, n_tiles, 1, [&](int64_t begin, int64_t end) {
      std::vector<uint32_t> scratch(cpu::kGradientRows * cpu::kGradientTiles * cpu::kGradientDepth /
                                    2);
      kernels.tiles(part, scratch.data(), begin, end);
    });
  }
}

/// Whether a pass without gradients is one over the weight with a few rows of x, as in decoding.
bool few_rows(const at::Tensor& x, const at::Tensor& weight) {
  const at::ScalarType type = x.scalar_type();
  const bool plain = x.is_cpu() && (type == at::kFloat || type == at::kBFloat16) &&
                     weight.scalar_type() == type && weight.is_contiguous();
  return plain && !c10::GradMode::is_enabled() && x.numel() > 0 &&
         x.numel() / x.size(-1) <= cpu::kFewRows;
}

at::Tensor linear_of_few_rows(const at::Tensor& x, const LinearLayer& layer) {
  constexpr int64_t kGrain = 1 << 16;  // weights per piece of parallel work, at least
  std::vector<int64_t> sizes = x.sizes().vec();
  sizes.back() = layer.weight.size(0);
  const at::Tensor y = at::empty(sizes, x.options());
  const at::Tensor wide = x.to(at::kFloat).contiguous();
  const at::Tensor bias =
      layer.bias.defined() ? layer.bias.to(at::kFloat).contiguous() : at::Tensor();
  const cpu::FewRows rows{.x = wide.const_data_ptr<float>(),
                          .w = layer.weight.const_data_ptr(),
                          .bias = bias.defined() ? bias.const_data_ptr<float>() : nullptr,
                          .y = y.mutable_data_ptr(),
                          .bf16_result = y.scalar_type() == at::kBFloat16,
                          .M = x.numel() / x.size(-1),
                          .N = layer.weight.size(0),
                          .K = x.size(-1)};
  const cpu::FewRowsTable& kernels = few_rows_kernels();
  const auto kernel = layer.weight.scalar_type() == at::kFloat ? kernels.of_float : kernels.of_bf16;
  GYRE_WORK("gyre::few_rows", 2.0 * static_cast<double>(rows.M * rows.N * rows.K),
            layer.weight.nbytes());
  parallel_for(0, rows.N, std::max<int64_t>(4, kGrain / std::max<int64_t>(rows.K, 1)),
               [&](int64_t begin, int64_t end) { kernel(rows, begin, end); });
  return y;
}

at::Tensor rows_of(const at::Tensor& x) {
  return x.reshape({-1, x.size(-1)});
}

/// Undefined tensors are no arguments of an autograd function; absent ones are.
std::optional<at::Tensor> optional(const at::Tensor& x) {
  return x.defined() ? std::optional(x) : std::nullopt;
}

/// Gradients of x, weight and bias; those that nobody wants stay undefined.
struct Wanted {
  bool x, weight, bias;
};
variable_list gradients(const at::Tensor& dy, const at::Tensor& x, const at::Tensor& weight,
                        at::ScalarType master, const Wanted& wanted) {
  const at::Tensor dy_MN = rows_of(dy).contiguous();
  at::Tensor dx, dw, db;
  if (wanted.x) {
    std::vector<int64_t> sizes = dy.sizes().vec();
    sizes.back() = weight.size(1);
    dx = at::mm(dy_MN, weight).view(sizes);
  }
  if (wanted.weight) {
    dw = at::empty(weight.sizes(), weight.options().dtype(master));
    add_weight_gradient_(dw, dy_MN, rows_of(x).contiguous(), true);
  }
  if (wanted.bias) {
    db = dy_MN.sum(0, false, master);
  }
  return {dx, dw, db};
}

std::optional<at::Tensor> cast(const std::optional<at::Tensor>& x, at::ScalarType type) {
  return x ? std::optional(x->to(type)) : x;
}

/// Keeps what the backward needs; returns the weight in the compute type.
at::Tensor save(AutogradContext* ctx, const at::Tensor& kept, const at::Tensor& weight,
                const std::optional<at::Tensor>& bias) {
  const at::Tensor narrow = weight.to(kept.scalar_type());
  ctx->save_for_backward({kept, narrow});
  ctx->saved_data["master"] = static_cast<int64_t>(weight.scalar_type());
  ctx->saved_data["bias"] = bias.has_value();
  return narrow;
}

at::ScalarType master_type(AutogradContext* ctx) {
  return static_cast<at::ScalarType>(ctx->saved_data["master"].toInt());
}

Wanted wanted(AutogradContext* ctx) {
  return {ctx->needs_input_grad(0), ctx->needs_input_grad(1),
          ctx->saved_data["bias"].toBool() && ctx->needs_input_grad(2)};
}

class Linear : public torch::autograd::Function<Linear> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias) {
    const at::Tensor narrow = save(ctx, x, weight, bias);
    return at::linear(x, narrow, cast(bias, x.scalar_type()));
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    return gradients(grads[0], saved[0], saved[1], master_type(ctx), wanted(ctx));
  }
};

class ActivatedLinear : public torch::autograd::Function<ActivatedLinear> {
 public:
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& up, const at::Tensor& weight,
                            const std::optional<at::Tensor>& bias, Mlp kind) {
    const at::Tensor narrow = save(ctx, up, weight, bias);
    ctx->saved_data["kind"] = static_cast<int64_t>(kind);
    return at::linear(apply_activation(up, kind), narrow, cast(bias, up.scalar_type()));
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const auto kind = static_cast<Mlp>(ctx->saved_data["kind"].toInt());
    variable_list out = gradients(grads[0], apply_activation(saved[0], kind), saved[1],
                                  master_type(ctx), wanted(ctx));
    if (out[0].defined()) {
      out[0] = activation_gradient(saved[0], out[0], kind);
    }
    out.emplace_back();
    return out;
  }
};

void check(const at::Tensor& x, int64_t width, const LinearLayer& layer) {
  TORCH_CHECK_VALUE(layer.weight.dim() == 2 && layer.weight.size(1) == width,
                    "linear layer: the input has ", width, " channels, the weight is ",
                    layer.weight.sizes(), " [out, in]; input ", x.sizes());
}

}  // namespace

void add_weight_gradient_(at::Tensor& dw, const at::Tensor& dy, const at::Tensor& x, bool fresh) {
  if (const auto* kernels = own_kernels(dw, x); kernels != nullptr && x.size(0) > 0) {
    GYRE_WORK("gyre::weight_gradient", 2.0 * static_cast<double>(dw.numel() * x.size(0)),
              dw.nbytes() + dy.nbytes() + x.nbytes());
    run(*kernels, {.dy = static_cast<const uint16_t*>(dy.const_data_ptr()),
                   .x = static_cast<const uint16_t*>(x.const_data_ptr()),
                   .packed_x = nullptr,
                   .dw = dw.mutable_data_ptr<float>(),
                   .M = x.size(0),
                   .N = dy.size(1),
                   .K = x.size(1),
                   .fresh = fresh});
    return;
  }
  if (dw.scalar_type() == x.scalar_type()) {
    fresh ? at::mm_out(dw, dy.t(), x) : at::addmm_out(dw, dw, dy.t(), x);
    return;
  }
  const at::Tensor product = at::mm(dy.t(), x);
  fresh ? dw.copy_(product) : dw.add_(product);
}

at::Tensor linear(const at::Tensor& x, const LinearLayer& layer) {
  check(x, x.size(-1), layer);
  if (few_rows(x, layer.weight)) {
    return linear_of_few_rows(x, layer);
  }
  if (many_rows(x, layer)) {
    return linear_of_many_rows(x, layer);
  }
  return Linear::apply(x, layer.weight, optional(layer.bias));
}

at::Tensor activated_linear(const at::Tensor& up, Mlp kind, const LinearLayer& layer) {
  check(up, kind == Mlp::Gelu ? up.size(-1) : up.size(-1) / 2, layer);
  if (few_rows(up, layer.weight)) {
    return linear_of_few_rows(apply_activation(up, kind), layer);
  }
  if (many_rows(up, layer)) {
    return linear_of_many_rows(apply_activation(up, kind), layer);
  }
  return ActivatedLinear::apply(up, layer.weight, optional(layer.bias), kind);
}

at::Tensor mlp(const at::Tensor& x, const LinearLayer& up, Mlp kind, const LinearLayer& down) {
  check(x, x.size(-1), up);
  return many_rows(x, up) ? linear(linear_of_many_rows(x, up, kind), down)
                          : activated_linear(linear(x, up), kind, down);
}

}  // namespace gyre::model
