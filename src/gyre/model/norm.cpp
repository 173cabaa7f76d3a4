#include "gyre/model/norm.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/rms_norm.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

#include "gyre/model/cpu/norm.h"
#include "gyre/tensor/parallel.h"
#include "gyre/tensor/work.h"

namespace gyre::model {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int64_t kGrain = 32'768;    // values per piece of parallel work, at least
constexpr int64_t kMostBlocks = 256;  // partial sums of the weight's gradient: cut by data alone
constexpr int64_t kBlockRows = 16;

at::ScalarType wide_type(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

cpu::NormTypes types_of(const at::Tensor& x, at::ScalarType dtype) {
  const at::ScalarType type = x.scalar_type();
  if (type == at::kFloat && dtype == at::kBFloat16) {
    return cpu::NormTypes::F32ToBf16;
  }
  const bool known = type == at::kFloat || type == at::kBFloat16 || type == at::kDouble;
  TORCH_CHECK_VALUE(known && dtype == type, "norm: a ", type, " input cannot give a ", dtype,
                    " result; it gives its own type, or bfloat16 from float32");
  return type == at::kFloat      ? cpu::NormTypes::F32
         : type == at::kBFloat16 ? cpu::NormTypes::Bf16
                                 : cpu::NormTypes::F64;
}

void check_weights(const at::Tensor& x, const NormLayer& norm) {
  for (const at::Tensor* each : {&norm.weight, &norm.bias}) {
    TORCH_CHECK_VALUE(
        !each->defined() || (each->dim() == 1 && each->size(0) == x.size(-1) &&
                             each->scalar_type() == wide_type(x) && each->is_contiguous()),
        "norm: weights must be [", x.size(-1), "] ", wide_type(x), ", got ", each->sizes(), " ",
        each->scalar_type());
  }
}

/// Where row r of x starts: (r / n_inner) * outer + (r % n_inner) * inner.
struct RowLayout {
  int64_t n_inner = 1, outer = 0, inner = 0;
};

bool rows_in_place(const at::Tensor& x) {
  return x.dim() == 4 && x.stride(3) == 1 &&
         (x.size(0) == 1 || x.stride(0) == x.size(1) * x.stride(1));
}
RowLayout layout_of(const at::Tensor& x) {
  return rows_in_place(x) ? RowLayout{x.size(2), x.stride(1), x.stride(2)}
                          : RowLayout{1, x.size(-1), 0};
}
at::Tensor readable(const at::Tensor& x) {
  return rows_in_place(x) ? x : x.contiguous();
}

const void* data_or_null(const at::Tensor& x) {
  return x.defined() ? x.const_data_ptr() : nullptr;
}
void* mutable_data_or_null(const at::Tensor& x) {
  return x.defined() ? x.mutable_data_ptr() : nullptr;
}

/// Undefined tensors are no arguments of an autograd function; absent ones are.
std::optional<at::Tensor> optional(const at::Tensor& x) {
  return x.defined() ? std::optional(x) : std::nullopt;
}

size_t bytes_or_0(const at::Tensor& x) {
  return x.defined() ? x.nbytes() : 0;
}
size_t added_bytes(const at::Tensor& x, const at::Tensor& a, const at::Tensor& b) {
  return x.nbytes() + bytes_or_0(a) + bytes_or_0(b);
}

class AddNorm : public torch::autograd::Function<AddNorm> {
 public:
  static variable_list forward(AutogradContext* ctx, const at::Tensor& input,
                               const std::optional<at::Tensor>& delta_or_none,
                               const at::Tensor& weight,
                               const std::optional<at::Tensor>& bias_or_none, const NormLayer& norm,
                               at::ScalarType dtype) {
    const at::Tensor delta = delta_or_none.value_or(at::Tensor());
    const at::Tensor bias = bias_or_none.value_or(at::Tensor());
    const at::Tensor x = readable(input), addend = delta.defined() ? delta.contiguous() : delta;
    const auto types = types_of(x, dtype);
    const int64_t C = x.size(-1), M = x.numel() / std::max<int64_t>(C, 1);
    const auto wide = weight.options().requires_grad(false);
    const at::Tensor n = at::empty(x.sizes(), x.options().dtype(dtype));
    const at::Tensor sum = delta.defined() ? at::empty(x.sizes(), x.options()) : at::Tensor();
    const at::Tensor rstd = at::empty({M}, wide);
    const at::Tensor mean = norm.kind == Norm::Layer ? at::empty({M}, wide) : at::Tensor();
    const RowLayout rows = layout_of(x);
    const cpu::NormForward params{.x = x.const_data_ptr(),
                                  .delta = data_or_null(addend),
                                  .y = mutable_data_or_null(sum),
                                  .n = n.mutable_data_ptr(),
                                  .weight = weight.const_data_ptr(),
                                  .bias = data_or_null(bias),
                                  .mean = mutable_data_or_null(mean),
                                  .rstd = rstd.mutable_data_ptr(),
                                  .n_inner = rows.n_inner,
                                  .x_outer = rows.outer,
                                  .x_inner = rows.inner,
                                  .C = C,
                                  .eps = norm.eps};
    GYRE_WORK("gyre::norm", 0.0, (added_bytes(x, sum, delta) + n.nbytes()));
    const auto kernel = norm_kernels().forward[static_cast<int>(types)];
    parallel_for(0, M, std::max<int64_t>(1, kGrain / std::max<int64_t>(C, 1)),
                 [&](int64_t begin, int64_t end) { kernel(params, begin, end); });
    ctx->set_materialize_grads(false);
    ctx->save_for_backward({sum.defined() ? sum : x, weight, mean, rstd});
    ctx->saved_data["types"] = static_cast<int64_t>(types);
    ctx->saved_data["bias"] = bias.defined();
    ctx->saved_data["eps"] = norm.eps;
    return sum.defined() ? variable_list{n, sum} : variable_list{n};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const bool added = grads.size() == 2;
    if (!grads[0].defined()) {  // only the sum was used
      const at::Tensor dx = added ? grads[1] : at::Tensor();
      const auto narrow = ctx->saved_data["types"].toInt() == int64_t{1} ? at::kBFloat16
                          : dx.defined()                                 ? dx.scalar_type()
                                                                         : at::kFloat;
      return {dx, dx.defined() ? dx.to(narrow) : dx, {}, {}, {}, {}};
    }
    const auto saved = ctx->get_saved_variables();
    const at::Tensor &y = saved[0], &weight = saved[1], &mean = saved[2], &rstd = saved[3];
    const at::Tensor dn = grads[0].contiguous();
    const at::Tensor dy = added && grads[1].defined() ? grads[1].contiguous() : at::Tensor();
    const int64_t C = y.size(-1), M = rstd.size(0);
    const int64_t n_blocks = std::clamp<int64_t>(M / kBlockRows, 1, kMostBlocks);
    const int64_t block_rows = (M + n_blocks - 1) / n_blocks;
    const at::Tensor dx = at::empty(y.sizes(), y.options());
    // The delta's gradient is the sum's in another type; in the same type it is the same tensor.
    const bool same_type = dn.scalar_type() == dx.scalar_type();
    const at::Tensor ddelta =
        added && !same_type ? at::empty(y.sizes(), dn.options()) : at::Tensor();
    const at::Tensor dweight = at::zeros({n_blocks, C}, weight.options());
    const at::Tensor dbias = ctx->saved_data["bias"].toBool()
                                 ? at::zeros({n_blocks, C}, weight.options())
                                 : at::Tensor();
    const RowLayout rows = layout_of(y);
    const cpu::NormBackward params{.y = y.const_data_ptr(),
                                   .dn = dn.const_data_ptr(),
                                   .dy = data_or_null(dy),
                                   .weight = weight.const_data_ptr(),
                                   .mean = data_or_null(mean),
                                   .rstd = rstd.const_data_ptr(),
                                   .dx = dx.mutable_data_ptr(),
                                   .ddelta = mutable_data_or_null(ddelta),
                                   .dweight = dweight.mutable_data_ptr(),
                                   .dbias = mutable_data_or_null(dbias),
                                   .n_inner = rows.n_inner,
                                   .y_outer = rows.outer,
                                   .y_inner = rows.inner,
                                   .C = C,
                                   .block = 0,
                                   .eps = ctx->saved_data["eps"].toDouble()};
    GYRE_WORK("gyre::norm_backward", 0.0, y.nbytes() + dn.nbytes() + added_bytes(dx, dy, ddelta));
    const auto kernel = norm_kernels().backward[ctx->saved_data["types"].toInt()];
    parallel_for(0, n_blocks, 1, [&](int64_t first, int64_t last) {
      cpu::NormBackward mine = params;
      for (mine.block = first; mine.block < last; ++mine.block) {
        kernel(mine, std::min(M, mine.block * block_rows),
               std::min(M, (mine.block + 1) * block_rows));
      }
    });
    return {dx,
            added && same_type ? dx : ddelta,
            dweight.sum(0),
            dbias.defined() ? dbias.sum(0) : at::Tensor(),
            {},
            {}};
  }
};

/// The same of torch's operators, for devices without own kernels.
Normed composed(const at::Tensor& x, const at::Tensor& delta, const NormLayer& norm,
                at::ScalarType dtype) {
  const at::Tensor sum = delta.defined() ? x + delta : x;
  const at::Tensor in = sum.to(wide_type(x));
  const int64_t C = x.size(-1);
  const at::Tensor y = norm.kind == Norm::Rms
                           ? at::rms_norm(in, {C}, norm.weight, norm.eps)
                           : at::layer_norm(in, {C}, norm.weight, norm.bias, norm.eps);
  return {sum, y.to(dtype)};
}

}  // namespace

Normed add_norm(const at::Tensor& x, const at::Tensor& delta, const NormLayer& norm,
                at::ScalarType dtype) {
  types_of(x, dtype);
  check_weights(x, norm);
  TORCH_CHECK_VALUE(
      !delta.defined() || (delta.sizes() == x.sizes() && delta.scalar_type() == dtype),
      "norm: the addend must be ", x.sizes(), " ", dtype, ", got ", delta.sizes(), " ",
      delta.scalar_type());
  if (!x.is_cpu()) {
    return composed(x, delta, norm, dtype);
  }
  // Layer norm alone has a bias; RMS norm never reads one.
  const at::Tensor bias = norm.kind == Norm::Layer ? norm.bias : at::Tensor();
  const variable_list out =
      AddNorm::apply(x, optional(delta), norm.weight, optional(bias), norm, dtype);
  return {out.size() == 2 ? out[1] : x, out[0]};
}

at::Tensor apply_norm(const at::Tensor& x, const NormLayer& norm, at::ScalarType dtype) {
  return add_norm(x, {}, norm, dtype).norm;
}

}  // namespace gyre::model
