// Attention block by block over torch's CPU flash kernel: each block of queries sees only the keys
// in its reach. One call of the kernel when the mask is full and nothing is added to the scores.
// Gradients of keys and values are summed over blocks in float32 or wider.
#include "gyre/attention/attention.h"

#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_backward.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

#include "gyre/attention/cuda/attend.h"
#include "gyre/attention/reach.h"
#include "gyre/attention/tile.h"

namespace gyre::attention {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What the backward needs beside tensors.
struct Layer : torch::CustomClassHolder {
  std::vector<double> slopes;
  position::MaskSpec mask;
  double scale = 1.0;

  bool one_causal_call(int64_t n_queries, int64_t n_keys) const {
    const bool sees_all = mask.window == 0 && (mask.chunk == 0 || mask.chunk >= n_keys);
    return sees_all && slopes.empty() && n_queries == n_keys;
  }
  std::vector<Reach> blocks(int64_t n_queries, int64_t n_keys) const {
    return reach(mask, n_queries, n_keys, block_size(mask, !slopes.empty(), n_keys));
  }
};

std::optional<at::Tensor> optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional(tensor) : std::nullopt;
}

// [B, G, S, D] -> [B, H, S, D]: head h reads group h / (H / G).
at::Tensor expand_groups(const at::Tensor& x_BGSD, int64_t n_heads) {
  const int64_t n_groups = x_BGSD.size(1);
  if (n_groups == n_heads) {
    return x_BGSD;
  }
  return x_BGSD.unsqueeze(2)
      .expand({-1, -1, n_heads / n_groups, -1, -1})
      .reshape({x_BGSD.size(0), n_heads, x_BGSD.size(2), x_BGSD.size(3)});
}

at::Tensor sum_groups(const at::Tensor& x_BHSD, int64_t n_groups, at::ScalarType dtype) {
  const int64_t n_heads = x_BHSD.size(1);
  if (n_groups == n_heads) {
    return x_BHSD.to(dtype);
  }
  return x_BHSD.reshape({x_BHSD.size(0), n_groups, n_heads / n_groups, x_BHSD.size(2), -1})
      .sum(2)
      .to(dtype);
}

// Rows of queries or keys of one block, as views.
at::Tensor query_rows(const at::Tensor& x_BHTD, const Reach& block, int64_t first) {
  const int64_t begin = block.q_begin - first;
  return x_BHTD.slice(2, begin, begin + (block.n_queries - 1) * block.step + 1, block.step);
}

at::Tensor range_rows(const at::Tensor& x_BHSD, const Reach& block) {
  const int64_t end = block.k_begin + (block.n_keys - 1) * block.step + 1;
  return x_BHSD.slice(2, block.k_begin, end, block.step);
}

at::Tensor key_rows(const at::Tensor& x_BHSD, const Reach& block) {
  const at::Tensor range = range_rows(x_BHSD, block);
  return block.n_prefix == 0 ? range : at::cat({x_BHSD.narrow(2, 0, block.n_prefix), range}, 2);
}

void add_key_rows(at::Tensor& sum_BHSD, const at::Tensor& part, const Reach& block) {
  if (block.n_prefix > 0) {
    sum_BHSD.narrow(2, 0, block.n_prefix).add_(part.narrow(2, 0, block.n_prefix));
  }
  range_rows(sum_BHSD, block).add_(part.narrow(2, block.n_prefix, block.n_keys));
}

// [B, heads, T, D] whose memory is [B, T, heads, D], ready to be viewed as [B, T, heads * D].
at::Tensor token_major(at::Tensor (*make)(at::IntArrayRef, at::TensorOptions),
                       const at::Tensor& like, at::ScalarType dtype) {
  return make({like.size(0), like.size(2), like.size(1), like.size(3)}, like.options().dtype(dtype))
      .transpose(1, 2);
}

at::Tensor make_zeros(at::IntArrayRef sizes, at::TensorOptions options) {
  return at::zeros(sizes, options);
}
at::Tensor make_empty(at::IntArrayRef sizes, at::TensorOptions options) {
  return at::empty(sizes, options);
}

// q [B, H, T, D], k and v [B, H, S, D].
variable_list forward_blocks(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const Layer& layer, const std::vector<Reach>& blocks) {
  const TileSource tiles(blocks, layer.slopes, q.scalar_type());
  variable_list results{token_major(make_empty, q, q.scalar_type())};
  const int64_t first = k.size(2) - q.size(2);
  for (const Reach& block : blocks) {
    auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(
        query_rows(q, block, first), key_rows(k, block), key_rows(v, block), 0.0, false,
        optional(tiles.tile(block)), layer.scale);
    results.push_back(lse);
    if (blocks.size() == 1) {
      results[0] = out;
    } else {
      query_rows(results[0], block, first).copy_(out);
    }
  }
  return results;
}

struct Gradients {
  at::Tensor q, k, v;  // [B, H, T or S, D]
};

Gradients backward_blocks(const at::Tensor& grad, const variable_list& saved, const at::Tensor& k,
                          const at::Tensor& v, const Layer& layer,
                          const std::vector<Reach>& blocks) {
  const at::Tensor &q = saved[0], &out = saved[3];
  const TileSource tiles(blocks, layer.slopes, q.scalar_type());
  const auto sum_type = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  Gradients sums{token_major(make_empty, q, q.scalar_type()), token_major(make_zeros, k, sum_type),
                 token_major(make_zeros, v, sum_type)};
  const int64_t first = k.size(2) - q.size(2);
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Reach& block = blocks[i];
    auto [dq, dk, dv] = at::_scaled_dot_product_flash_attention_for_cpu_backward(
        query_rows(grad, block, first), query_rows(q, block, first), key_rows(k, block),
        key_rows(v, block), query_rows(out, block, first), saved[4 + i], 0.0, false,
        optional(tiles.tile(block)), layer.scale);
    if (blocks.size() == 1 && block.n_prefix == 0 && block.step == 1 && block.n_keys == k.size(2)) {
      return {dq, dk, dv};
    }
    query_rows(sums.q, block, first).copy_(dq);
    add_key_rows(sums.k, dk, block);
    add_key_rows(sums.v, dv, block);
  }
  return sums;
}

struct Attend : torch::autograd::Function<Attend> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const c10::intrusive_ptr<Layer>& layer) {
    const at::Tensor k_BHSD = expand_groups(k, q.size(1)), v_BHSD = expand_groups(v, q.size(1));
    variable_list results;
    if (layer->one_causal_call(q.size(2), k.size(2))) {
      auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(
          q, k_BHSD, v_BHSD, 0.0, true, std::nullopt, layer->scale);
      results = {out, lse};
    } else {
      results = forward_blocks(q, k_BHSD, v_BHSD, *layer, layer->blocks(q.size(2), k.size(2)));
    }
    variable_list saved{q, k, v};
    saved.insert(saved.end(), results.begin(), results.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["layer"] = at::IValue::make_capsule(layer);
    return results[0];
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto holder = ctx->saved_data["layer"].toCapsule();
    const auto& layer = static_cast<const Layer&>(*holder);
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2];
    const at::Tensor k_BHSD = expand_groups(k, q.size(1)), v_BHSD = expand_groups(v, q.size(1));
    const at::Tensor grad = grads[0].stride(3) == 1 ? grads[0] : grads[0].contiguous();
    Gradients d;
    if (layer.one_causal_call(q.size(2), k.size(2))) {
      std::tie(d.q, d.k, d.v) = at::_scaled_dot_product_flash_attention_for_cpu_backward(
          grad, q, k_BHSD, v_BHSD, saved[3], saved[4], 0.0, true, std::nullopt, layer.scale);
    } else {
      d = backward_blocks(grad, saved, k_BHSD, v_BHSD, layer, layer.blocks(q.size(2), k.size(2)));
    }
    return {d.q, sum_groups(d.k, k.size(1), k.scalar_type()),
            sum_groups(d.v, v.size(1), v.scalar_type()), at::Tensor()};
  }
};

void check(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
           const position::LayerPlan& layer) {
  TORCH_CHECK_VALUE(q.dim() == 4 && k.dim() == 4, "attention: q must be [B, H, T, D] and k ",
                    "[B, G, S, D], got ", q.sizes(), " and ", k.sizes());
  TORCH_CHECK_VALUE(k.sizes() == v.sizes(), "attention: k and v differ: ", k.sizes(), " and ",
                    v.sizes());
  const auto type = q.scalar_type();
  TORCH_CHECK_VALUE(type == at::kDouble || type == at::kFloat || type == at::kBFloat16,
                    "attention: q must be float64, float32 or bfloat16, got ", type);
  TORCH_CHECK_VALUE(k.scalar_type() == type && v.scalar_type() == type,
                    "attention: q, k and v must have one dtype, got ", type, ", ", k.scalar_type(),
                    " and ", v.scalar_type());
  TORCH_CHECK_VALUE((q.is_cpu() || q.is_cuda()) && k.device() == q.device() &&
                        v.device() == q.device(),
                    "attention: tensors must be on the cpu or on one cuda device, q is on ",
                    q.device(), ", k on ", k.device(), ", v on ", v.device());
  TORCH_CHECK_VALUE(q.size(0) == k.size(0) && q.size(3) == k.size(3),
                    "attention: q and k differ in batch or head dim: ", q.sizes(), " and ",
                    k.sizes());
  TORCH_CHECK_VALUE(q.size(1) > 0 && k.size(1) > 0 && q.size(1) % k.size(1) == 0,
                    "attention: ", q.size(1), " query heads are no multiple of ", k.size(1),
                    " key/value heads");
  TORCH_CHECK_VALUE(q.size(2) >= 1 && k.size(2) >= q.size(2), "attention: ", q.size(2),
                    " queries need at least as many keys and at least one, got ", k.size(2));
  const auto n_slopes = static_cast<int64_t>(layer.slopes.size());
  TORCH_CHECK_VALUE(n_slopes == 0 || n_slopes == q.size(1), "attention: ", n_slopes, " slopes for ",
                    q.size(1), " query heads");
  const position::MaskSpec& mask = layer.mask;
  TORCH_CHECK_VALUE(mask.window >= 0 && mask.dilation >= 1 && mask.n_global >= 0,
                    "attention: mask has window ", mask.window, ", dilation ", mask.dilation,
                    ", global tokens ", mask.n_global);
  TORCH_CHECK_VALUE(mask.chunk >= 0 && (mask.chunk == 0 || mask.window == 0),
                    "attention: mask has chunk ", mask.chunk, " and window ", mask.window,
                    "; use one of them");
}

at::Tensor dense_rows(const at::Tensor& x) {
  return x.stride(3) == 1 ? x : x.contiguous();
}

}  // namespace

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const position::LayerPlan& layer) {
  check(q, k, v, layer);
  if (q.is_cuda()) {
    return cuda::attention(cuda::cuda_backend(), q, k, v, layer);
  }
  auto holder = c10::make_intrusive<Layer>();
  holder->slopes = layer.slopes;
  holder->mask = layer.mask;
  holder->scale = layer.logit_scale / std::sqrt(static_cast<double>(q.size(3)));
  return Attend::apply(dense_rows(q), dense_rows(k), dense_rows(v), holder);
}

}  // namespace gyre::attention
