#include "gyre/attention/cuda/attend.h"

#include <c10/core/DeviceGuard.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "gyre/attention/cuda/flash.h"
#include "gyre/attention/cuda/plain.h"
#include "gyre/attention/cuda/turning.h"

namespace gyre::attention::cuda {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

constexpr int kFlashCapability = 80;  // Ampere

// What the backward needs beside tensors.
struct Layer : torch::CustomClassHolder {
  PlainLayer plain;
  const Vendor* vendor = nullptr;
};

at::Tensor dense_rows(const at::Tensor& x) {
  return x.stride(3) == 1 ? x : x.contiguous();
}

double scale_of(const at::Tensor& q, const position::LayerPlan& layer) {
  return layer.logit_scale / std::sqrt(static_cast<double>(q.size(3)));
}

std::vector<Piece> pieces_of(const Layer& layer, const FlashInput& in) {
  return pieces(layer.plain.mask, in.q.size(1), in.k.size(1));
}

/// Saves padded inputs, so that the backward does not pad again.
struct FlashAttend : torch::autograd::Function<FlashAttend> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const c10::intrusive_ptr<Layer>& layer) {
    const PlainLayer& plain = layer->plain;
    const FlashInput in = flash_input(q, k, v, plain.slopes, plain.scale);
    const VendorOutput out = flash_forward(*layer->vendor, in, pieces_of(*layer, in), plain.scale);
    ctx->save_for_backward({in.q, in.k, in.v, out.out, out.lse, out.seed, out.offset});
    ctx->saved_data["layer"] = at::IValue::make_capsule(layer);
    ctx->saved_data["head_dim"] = q.size(3);
    return out.out.narrow(3, 0, q.size(3)).transpose(1, 2);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto holder = ctx->saved_data["layer"].toCapsule();
    const auto& layer = static_cast<const Layer&>(*holder);
    const int64_t D = ctx->saved_data["head_dim"].toInt();
    const FlashInput in{saved[0], saved[1], saved[2]};
    const VendorOutput out{saved[3], saved[4], saved[5], saved[6]};
    const FlashInput d = flash_backward(*layer.vendor, padded(grads[0], in.q.size(3)), in, out,
                                        pieces_of(layer, in), layer.plain.scale);
    const auto own = [&](const at::Tensor& x) { return x.narrow(3, 0, D).transpose(1, 2); };
    return {own(d.q), own(d.k), own(d.v), at::Tensor()};
  }
};

struct PlainAttend : torch::autograd::Function<PlainAttend> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const c10::intrusive_ptr<Layer>& layer) {
    const PlainOutput out = plain_forward(q, k, v, layer->plain);
    ctx->save_for_backward({q, k, v, out.out, out.lse});
    ctx->saved_data["layer"] = at::IValue::make_capsule(layer);
    return out.out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto holder = ctx->saved_data["layer"].toCapsule();
    const PlainGradients d =
        plain_backward(grads[0], saved[0], saved[1], saved[2], {saved[3], saved[4]},
                       static_cast<const Layer&>(*holder).plain);
    return {d.q, d.k, d.v, at::Tensor()};
  }
};

}  // namespace

bool uses_flash(const Backend& backend, const at::Tensor& q, const position::LayerPlan& layer,
                const at::Tensor& first_key) {
  return q.scalar_type() == at::kBFloat16 && !first_key.defined() && layer.logit_scale > 0.0 && layer.score_cap == 0.0 &&
         padded_dim(q.size(3), !layer.slopes.empty()) <= kLargestFlashDim &&
         backend.kernels->capability(q.is_cuda() ? q.device().index() : 0) >= kFlashCapability;
}

at::Tensor attention(const Backend& backend, const at::Tensor& q, const at::Tensor& k,
                     const at::Tensor& v, const position::LayerPlan& layer,
                     const at::Tensor& first_key) {
  const c10::DeviceGuard guard(q.device());
  auto holder = c10::make_intrusive<Layer>();
  holder->plain = {layer.slopes, layer.mask, scale_of(q, layer), layer.score_cap,
                   first_key.defined() ? first_key.to(q.device()) : first_key};
  holder->vendor = backend.vendor;
  if (uses_flash(backend, q, layer, first_key)) {
    return FlashAttend::apply(dense_rows(q), dense_rows(k), dense_rows(v), holder);
  }
  return PlainAttend::apply(q, k, v, holder);
}

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const Rotation& rotation, const position::LayerPlan& layer,
                  const at::Tensor& first_key) {
  const Backend& backend = cuda_backend();
  const auto [q_turned, k_turned] = rotate(backend, q, k, rotation);
  return attention(backend, q_turned, k_turned, v, layer, first_key);
}

}  // namespace gyre::attention::cuda
