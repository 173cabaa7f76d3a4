// Fills the kernels' structs and gives them an autograd function. The frequency gradient is the
// linear-cost form of attention/rotation.h, summed in the pass that turns the gradients back.
#include "gyre/attention/cuda/turning.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/log1p.h>
#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/custom_function.h>

namespace gyre::attention::cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

Type type_of(const at::Tensor& x) {
  switch (x.scalar_type()) {
    case at::kDouble:
      return Type::F64;
    case at::kFloat:
      return Type::F32;
    default:
      return Type::BF16;
  }
}

void check_launch(const char* kernel, const char* error) {
  TORCH_CHECK(error == nullptr, "cuda kernel ", kernel, ": ", error);
}

View view_of(const at::Tensor& x_BHTD) {
  const auto stride = [&](int64_t dim) { return x_BHTD.size(dim) > 1 ? x_BHTD.stride(dim) : 0; };
  return {const_cast<void*>(x_BHTD.const_data_ptr()), stride(0), stride(1), stride(2)};
}

at::Tensor with_dense_rows(const at::Tensor& x) {
  return x.size(3) <= 1 || x.stride(3) == 1 ? x : x.contiguous();
}

// [B, heads, T, D] in memory as [B, T, heads, D], as the vendor's attention wants it.
at::Tensor token_major_like(const at::Tensor& x_BHTD) {
  return at::empty({x_BHTD.size(0), x_BHTD.size(2), x_BHTD.size(1), x_BHTD.size(3)},
                   x_BHTD.options())
      .transpose(1, 2);
}

const double* doubles(const at::Tensor& x) {
  return x.defined() ? x.const_data_ptr<double>() : nullptr;
}

enum class Side { Queries, Keys };

Turn turn_of(const Rotation& r, Side side) {
  const bool keys = side == Side::Keys;
  return {doubles(r.theta),
          doubles(r.decay),
          (keys ? r.key_cos : r.cos).const_data_ptr(),
          (keys ? r.key_sin : r.sin).const_data_ptr(),
          keys ? nullptr : doubles(r.query_gain),
          r.theta.size(0),
          r.layout == position::PairLayout::Interleaved};
}

Sizes sizes_of(const at::Tensor& x_BHTD, const Rotation& r) {
  return {x_BHTD.size(0), x_BHTD.size(1), x_BHTD.size(2), x_BHTD.size(3), r.theta.size(1)};
}

// What the backward needs beside the rotated tensors; theta is detached.
struct Turning : torch::CustomClassHolder {
  const Backend* backend = nullptr;
  Rotation rotation;
  bool learned = false;
};

at::Tensor turn(const at::Tensor& input, const Turning& turning, Side side) {
  const c10::DeviceGuard guard(input.device());
  const at::Tensor x_BHTD = with_dense_rows(input);
  at::Tensor out_BHTD = token_major_like(x_BHTD);
  const RotateArgs args{view_of(x_BHTD), view_of(out_BHTD), sizes_of(x_BHTD, turning.rotation),
                        turn_of(turning.rotation, side), type_of(x_BHTD)};
  check_launch("rotate", turning.backend->kernels->rotate(args, stream_of(x_BHTD)));
  return out_BHTD;
}

// The gradient turned back. With rotated_BHTD defined, adds to d_theta [G, P], or sets it first.
at::Tensor turn_back(const at::Tensor& grad, const at::Tensor& rotated_BHTD, const Turning& turning,
                     Side side, at::Tensor& d_theta) {
  const c10::DeviceGuard guard(grad.device());
  const at::Tensor grad_BHTD = with_dense_rows(grad);
  at::Tensor out_BHTD = token_major_like(grad_BHTD);
  const Sizes s = sizes_of(grad_BHTD, turning.rotation);
  UnrotateArgs args{view_of(grad_BHTD),
                    view_of(out_BHTD),
                    {},
                    s,
                    turn_of(turning.rotation, side),
                    turning.rotation.positions.const_data_ptr<int64_t>(),
                    nullptr,
                    type_of(grad_BHTD)};
  const Kernels& kernels = *turning.backend->kernels;
  void* stream = stream_of(grad_BHTD);
  const int64_t blocks = s.n_batch * n_chunks(s.n_tokens);
  at::Tensor partial;
  if (rotated_BHTD.defined()) {
    partial = at::empty({blocks, s.n_heads, s.n_pairs}, grad.options().dtype(at::kDouble));
    args.rotated = view_of(rotated_BHTD);
    args.partial = partial.mutable_data_ptr<double>();
  }
  check_launch("unrotate", kernels.unrotate(args, stream));
  if (rotated_BHTD.defined()) {
    const bool first = !d_theta.defined();
    d_theta = first ? at::empty_like(turning.rotation.theta) : d_theta;
    const ReduceArgs reduce{
        partial.const_data_ptr<double>(),   blocks, s.n_heads, s.n_pairs, d_theta.size(0),
        d_theta.mutable_data_ptr<double>(), !first};
    check_launch("reduce", kernels.reduce(reduce, stream));
  }
  return out_BHTD;
}

struct Rotate : torch::autograd::Function<Rotate> {
  static variable_list forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                               const at::Tensor& theta,
                               const c10::intrusive_ptr<Turning>& turning) {
    turning->learned = theta.requires_grad();
    variable_list out{turn(q, *turning, Side::Queries), turn(k, *turning, Side::Keys)};
    if (turning->learned) {
      ctx->save_for_backward(out);
    }
    ctx->saved_data["turning"] = at::IValue::make_capsule(turning);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto holder = ctx->saved_data["turning"].toCapsule();
    const auto& turning = static_cast<const Turning&>(*holder);
    const variable_list rotated = ctx->get_saved_variables();
    variable_list out(4);
    at::Tensor d_theta;
    for (size_t i = 0; i < 2; ++i) {
      if (grads[i].defined()) {
        out[i] = turn_back(grads[i], turning.learned ? rotated[i] : at::Tensor(), turning,
                           i == 0 ? Side::Queries : Side::Keys, d_theta);
      }
    }
    out[2] = d_theta;
    return out;
  }
};

// 1 + growth ln(1 + floor((i + 1) / floor)), [T] float64.
at::Tensor query_gain(const at::Tensor& positions_T, const position::LayerPlan& layer) {
  const at::Tensor step = ((positions_T.to(at::kDouble) + 1.0) / layer.query_growth_floor).floor();
  return step.log1p() * layer.query_growth + 1.0;
}

// The same table made on the CPU and copied: decay needs the range of the positions, on the host.
Rotation copied(const at::Tensor& theta, const at::Tensor& positions, position::PairLayout layout,
                const position::LayerPlan& layer, at::ScalarType dtype,
                std::optional<int64_t> origin) {
  const at::Device device = positions.device();
  Rotation r =
      attention::make_rotation(theta.detach().cpu(), positions.cpu(), layout, layer, dtype, origin);
  for (at::Tensor* each : {&r.cos, &r.sin, &r.key_cos, &r.key_sin, &r.decay, &r.query_gain}) {
    *each = each->defined() ? each->to(device) : *each;
  }
  r.theta = theta.contiguous();
  r.positions = positions.contiguous();
  return r;
}

}  // namespace

Rotation make_table(const Backend& backend, const at::Tensor& theta, const at::Tensor& positions,
                    position::PairLayout layout, const position::LayerPlan& layer,
                    at::ScalarType dtype, std::optional<int64_t> origin) {
  if (theta.defined() && !layer.decay.empty()) {
    return copied(theta, positions, layout, layer, dtype, origin);
  }
  Rotation r;
  r.layout = layout;
  r.amplitude = layer.amplitude;
  r.positions = positions.contiguous();
  if (layer.query_growth != 0.0) {
    r.query_gain = query_gain(r.positions, layer);
  }
  if (!theta.defined()) {
    return r;
  }
  const c10::DeviceGuard guard(positions.device());
  r.theta = theta.contiguous();
  const at::Tensor bands = r.theta.detach();
  r.cos = at::empty({bands.size(0), positions.size(0), bands.size(1)},
                    positions.options().dtype(dtype));
  r.sin = at::empty_like(r.cos);
  const TableArgs args{bands.const_data_ptr<double>(),
                       r.positions.const_data_ptr<int64_t>(),
                       bands.size(0),
                       positions.size(0),
                       bands.size(1),
                       layer.amplitude,
                       r.cos.mutable_data_ptr(),
                       r.sin.mutable_data_ptr(),
                       type_of(r.cos)};
  check_launch("table", backend.kernels->table(args, stream_of(positions)));
  r.key_cos = r.cos;
  r.key_sin = r.sin;
  return r;
}

std::pair<at::Tensor, at::Tensor> rotate(const Backend& backend, const at::Tensor& q,
                                         const at::Tensor& k, const Rotation& rotation) {
  if (rotation.identity()) {
    return {q, k};
  }
  if (!rotation.theta.defined()) {
    const auto wide = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
    const at::Tensor gain = rotation.query_gain.to(wide).view({-1, 1});
    return {(q.to(wide) * gain).to(q.scalar_type()), k};
  }
  auto turning = c10::make_intrusive<Turning>();
  turning->backend = &backend;
  turning->rotation = rotation;
  turning->rotation.theta = rotation.theta.detach();
  const variable_list out = Rotate::apply(q, k, rotation.theta, turning);
  return {out[0], out[1]};
}

}  // namespace gyre::attention::cuda
