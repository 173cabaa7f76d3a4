// Checks and autograd of the fused attention; the work is in cpu/.
#include "gyre/attention/attention.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <cmath>

#include "gyre/attention/cpu/attend.h"
#include "gyre/attention/cpu/decode.h"
#include "gyre/attention/cuda/attend.h"
#include "gyre/attention/gauge.h"
#include "gyre/tensor/work.h"

namespace gyre::attention {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// What both passes need beside the differentiable tensors.
struct Plan : torch::CustomClassHolder {
  cpu::Call call;  // without q, k, v
  int64_t n_heads = 0, n_kv_heads = 0;
  bool packed = false, learned = false;
};

at::Tensor dense_rows(const at::Tensor& x) {
  return x.stride(-1) == 1 ? x : x.contiguous();
}

struct Views {
  at::Tensor q, k, v;  // [B, H or G, T or S, D]
};

// Heads [begin, begin + n) of [B, T, heads, D] in one row, as [B, n, T, D].
at::Tensor heads_of(const at::Tensor& row_BTF, int64_t begin, int64_t n, int64_t head_dim) {
  return row_BTF.narrow(2, begin * head_dim, n * head_dim)
      .view({row_BTF.size(0), row_BTF.size(1), n, head_dim})
      .transpose(1, 2);
}

Views views_of(const Plan& plan, const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
  if (!plan.packed) {
    return {q, k, v};
  }
  const int64_t H = plan.n_heads, G = plan.n_kv_heads, D = q.size(2) / (H + 2 * G);
  return {heads_of(q, 0, H, D), heads_of(q, H, G, D), heads_of(q, H + G, G, D)};
}

// [B, heads, T, D] whose memory is [B, T, heads, D].
at::Tensor token_major(const at::Tensor& like) {
  return at::empty({like.size(0), like.size(2), like.size(1), like.size(3)}, like.options())
      .transpose(1, 2);
}

// Autograd's inputs must be tensors.
at::Tensor or_empty(const at::Tensor& x) {
  static const at::Tensor nothing = at::empty({0});
  return x.defined() ? x : nothing;
}

// Sums per key/value head -> gradient of the table's [1 or G, P] frequencies, in a fixed order.
at::Tensor theta_gradient(const at::Tensor& cross_BGP, int64_t n_tables) {
  const int64_t G = cross_BGP.size(1), P = cross_BGP.size(2);
  at::Tensor out = at::zeros({n_tables, P}, at::kDouble);
  const auto* in = cross_BGP.const_data_ptr<double>();
  auto* sum = out.mutable_data_ptr<double>();
  for (int64_t i = 0; i < cross_BGP.size(0) * G; ++i) {
    for (int64_t m = 0; m < P; ++m) {
      sum[i % G * n_tables / G * P + m] += in[i * P + m];
    }
  }
  return out;
}

// Pairs of queries and keys that the mask shows.
double pairs_seen(const position::MaskSpec& mask, int64_t n_queries, int64_t n_keys) {
  double pairs = 0.0;
  for (int64_t i = n_keys - n_queries; i < n_keys; ++i) {
    int64_t first = mask.chunk > 0 ? i / mask.chunk * mask.chunk : 0;
    if (mask.window > 0) {
      first = std::max(first, i - mask.window * mask.dilation + 1);
    }
    const int64_t step = mask.window > 0 ? mask.dilation : 1;
    pairs += static_cast<double>((i - first) / step + 1 + std::min(mask.n_global, first));
  }
  return pairs;
}

// Work of `products` products of [queries, D] and [D, keys], with `tensors` read or written.
double flops_of(const cpu::Call& call, int products) {
  const at::Tensor& q = call.q;
  return 2.0 * products * static_cast<double>(q.size(0) * q.size(1) * q.size(3)) *
         pairs_seen(call.mask, q.size(2), call.k.size(2));
}
double bytes_of(const cpu::Call& call, int of_queries, int of_keys) {
  return static_cast<double>(of_queries * static_cast<int64_t>(call.q.nbytes()) +
                             of_keys * static_cast<int64_t>(call.k.nbytes()));
}

struct Attend : torch::autograd::Function<Attend> {
  // q is the whole projection, and k and v are empty, when the plan is packed.
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& q, const at::Tensor& k,
                            const at::Tensor& v, const at::Tensor& /*theta*/,
                            const c10::intrusive_ptr<Plan>& plan) {
    cpu::Call call = plan->call;
    const Views x = views_of(*plan, q, k, v);
    call.q = x.q;
    call.k = x.k;
    call.v = x.v;
    at::Tensor out = token_major(x.q);
    at::Tensor softmax =
        at::empty({2, x.q.size(0), x.q.size(1), x.q.size(2)},
                  x.q.options().dtype(x.q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat));
    GYRE_WORK("gyre::attend", flops_of(call, 2), bytes_of(call, 2, 2));
    cpu::forward(call, out, softmax);
    ctx->save_for_backward({q, k, v, out, softmax});
    ctx->saved_data["plan"] = at::IValue::make_capsule(plan);
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto holder = ctx->saved_data["plan"].toCapsule();
    const auto& plan = static_cast<const Plan&>(*holder);
    const at::Tensor &q = saved[0], &k = saved[1], &v = saved[2];
    cpu::Call call = plan.call;
    const Views x = views_of(plan, q, k, v);
    call.q = x.q;
    call.k = x.k;
    call.v = x.v;
    variable_list out(5);
    cpu::Gradients to;
    if (plan.packed) {
      out[0] = at::empty(q.sizes(), q.options());
      const Views d = views_of(plan, out[0], {}, {});
      to.q = d.q;
      to.k = d.k;
      to.v = d.v;
    } else {
      to.q = out[0] = token_major(x.q);
      to.k = out[1] = token_major(x.k);
      to.v = out[2] = token_major(x.v);
    }
    to.gauge = kCheckGauge && call.cos.defined();
    if (plan.learned || to.gauge) {
      to.cross = at::zeros({3, x.k.size(0), x.k.size(1), call.cos.size(2)}, at::kDouble);
    }
    GYRE_WORK("gyre::attend_backward", flops_of(call, 5), bytes_of(call, 4, 4));
    cpu::backward(call, saved[3], saved[4], dense_rows(grads[0]), to);
    if (to.gauge) {
      check_gauge(to.cross[1], to.cross[2], x.q.scalar_type());
    }
    if (plan.learned) {
      out[3] = theta_gradient(to.cross[0], call.cos.size(0));
    }
    return out;
  }
};

void check_tensors(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v) {
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
  TORCH_CHECK_VALUE(
      (q.is_cpu() || q.is_cuda()) && k.device() == q.device() && v.device() == q.device(),
      "attention: tensors must be on the cpu or on one cuda device, q is on ", q.device(),
      ", k on ", k.device(), ", v on ", v.device());
  TORCH_CHECK_VALUE(q.size(0) == k.size(0) && q.size(3) == k.size(3),
                    "attention: q and k differ in batch or head dim: ", q.sizes(), " and ",
                    k.sizes());
  TORCH_CHECK_VALUE(q.size(1) > 0 && k.size(1) > 0 && q.size(1) % k.size(1) == 0,
                    "attention: ", q.size(1), " query heads are no multiple of ", k.size(1),
                    " key/value heads");
  TORCH_CHECK_VALUE(q.size(2) >= 1 && k.size(2) >= q.size(2), "attention: ", q.size(2),
                    " queries need at least as many keys and at least one, got ", k.size(2));
  constexpr int64_t kLargestDim = 1024;
  TORCH_CHECK_VALUE(q.size(3) >= 1 && q.size(3) <= kLargestDim, "attention: head dim must be 1 to ",
                    kLargestDim, ", got ", q.size(3));
}

void check_layer(const at::Tensor& q, const position::LayerPlan& layer) {
  const auto n_slopes = static_cast<int64_t>(layer.slopes.size());
  TORCH_CHECK_VALUE(n_slopes == 0 || n_slopes == q.size(1), "attention: ", n_slopes, " slopes for ",
                    q.size(1), " query heads");
  TORCH_CHECK_VALUE(layer.score_cap >= 0.0, "attention: the cap of scores must be positive, or 0 ",
                    "for none, got ", layer.score_cap);
  const position::MaskSpec& mask = layer.mask;
  TORCH_CHECK_VALUE(mask.window >= 0 && mask.dilation >= 1 && mask.n_global >= 0,
                    "attention: mask has window ", mask.window, ", dilation ", mask.dilation,
                    ", global tokens ", mask.n_global);
  TORCH_CHECK_VALUE(mask.chunk >= 0 && (mask.chunk == 0 || mask.window == 0),
                    "attention: mask has chunk ", mask.chunk, " and window ", mask.window,
                    "; use one of them");
}

void check_rotation(const at::Tensor& q, const at::Tensor& k, const Rotation& rotation) {
  if (rotation.identity()) {
    return;
  }
  TORCH_CHECK_VALUE(q.size(2) == k.size(2), "attention: a rotation needs as many queries as keys, ",
                    "got ", q.size(2), " and ", k.size(2), "; rotate cached keys when stored");
  TORCH_CHECK_VALUE(q.size(2) == rotation.positions.size(0), "attention: q has ", q.size(2),
                    " tokens, the table has ", rotation.positions.size(0), " positions");
  TORCH_CHECK_VALUE(q.device() == rotation.positions.device(), "attention: q is on ", q.device(),
                    ", its table on ", rotation.positions.device());
  if (!rotation.theta.defined()) {
    return;
  }
  const int64_t P = rotation.theta.size(1), n_tables = rotation.theta.size(0);
  TORCH_CHECK_VALUE(q.size(3) >= 2 * P, "attention: q has ", q.size(3),
                    " channels per head, the table rotates ", 2 * P);
  TORCH_CHECK_VALUE(n_tables == 1 || n_tables == k.size(1), "attention: the table has ", n_tables,
                    " groups, k has ", k.size(1), " heads; use 1 or one per key/value head");
  const auto wanted = q.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
  TORCH_CHECK_VALUE(rotation.cos.scalar_type() == wanted, "attention: q is ", q.scalar_type(),
                    ", its table must be ", wanted, ", got ", rotation.cos.scalar_type());
}

void check_first_key(const at::Tensor& q, const at::Tensor& first_key) {
  TORCH_CHECK_VALUE(
      !first_key.defined() || (first_key.scalar_type() == at::kLong &&
                               first_key.device() == q.device() && first_key.dim() == 2 &&
                               first_key.size(0) == q.size(0) && first_key.size(1) == q.size(2)),
      "attention: first_key must be int64 [", q.size(0), ", ", q.size(2), "], got ",
      first_key.scalar_type(), " ", first_key.sizes());
}

c10::intrusive_ptr<Plan> plan_of(const Views& x, const Rotation& rotation,
                                 const position::LayerPlan& layer, const at::Tensor& first_key) {
  check_tensors(x.q, x.k, x.v);
  check_layer(x.q, layer);
  check_rotation(x.q, x.k, rotation);
  check_first_key(x.q, first_key);
  auto plan = c10::make_intrusive<Plan>();
  cpu::Call& call = plan->call;
  call.cos = rotation.cos;
  call.sin = rotation.sin;
  call.key_cos = rotation.key_cos;
  call.key_sin = rotation.key_sin;
  call.query_gain = rotation.query_gain;
  call.positions = rotation.positions;
  call.interleaved = rotation.layout == position::PairLayout::Interleaved;
  call.first_key = first_key.defined() ? first_key.contiguous() : first_key;
  call.mask = layer.mask;
  call.slopes = layer.slopes;
  call.scale = layer.logit_scale / std::sqrt(static_cast<double>(x.q.size(3)));
  call.cap = layer.score_cap;
  plan->learned = rotation.theta.defined() && rotation.theta.requires_grad();
  return plan;
}

}  // namespace

at::Tensor attend(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                  const Rotation& rotation, const position::LayerPlan& layer,
                  const at::Tensor& first_key) {
  const auto plan = plan_of({q, k, v}, rotation, layer, first_key);
  if (q.is_cuda()) {
    return cuda::attend(q, k, v, rotation, layer, first_key);
  }
  if (!c10::GradMode::is_enabled()) {
    cpu::Call call = plan->call;
    call.q = dense_rows(q);
    call.k = dense_rows(k);
    call.v = dense_rows(v);
    if (cpu::decodes(call)) {
      at::Tensor out = token_major(q);
      GYRE_WORK("gyre::decode", flops_of(call, 2), bytes_of(call, 2, 2));
      cpu::decode(call, out);
      return out;
    }
  }
  return Attend::apply(dense_rows(q), dense_rows(k), dense_rows(v), or_empty(rotation.theta), plan);
}

at::Tensor attend_packed(const at::Tensor& qkv, int64_t n_heads, int64_t n_kv_heads,
                         const Rotation& rotation, const position::LayerPlan& layer,
                         const at::Tensor& first_key) {
  const int64_t n_all = n_heads + 2 * n_kv_heads;
  TORCH_CHECK_VALUE(qkv.dim() == 3 && n_heads > 0 && n_kv_heads > 0 && qkv.size(2) % n_all == 0,
                    "attention: qkv must be [B, T, (", n_heads, " + 2 * ", n_kv_heads, ") D], got ",
                    qkv.sizes());
  Plan shape;
  shape.n_heads = n_heads;
  shape.n_kv_heads = n_kv_heads;
  shape.packed = true;
  const at::Tensor dense = dense_rows(qkv);
  const Views views = views_of(shape, dense, {}, {});
  const auto plan = plan_of(views, rotation, layer, first_key);
  if (qkv.is_cuda()) {
    const int64_t q_width = n_heads * views.q.size(3), k_width = n_kv_heads * views.q.size(3);
    // split, not narrow: its backward is one cat of the three gradients.
    const auto parts = dense.split_with_sizes({q_width, k_width, k_width}, 2);
    const auto heads = [&](size_t i, int64_t n) {
      return heads_of(parts[i], 0, n, views.q.size(3));
    };
    return cuda::attend(heads(0, n_heads), heads(1, n_kv_heads), heads(2, n_kv_heads), rotation,
                        layer, first_key)
        .transpose(1, 2)
        .flatten(2);
  }
  plan->n_heads = n_heads;
  plan->n_kv_heads = n_kv_heads;
  plan->packed = true;
  const at::Tensor out =
      Attend::apply(dense, or_empty({}), or_empty({}), or_empty(rotation.theta), plan);
  return out.transpose(1, 2).flatten(2);
}

at::Tensor attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                     const position::LayerPlan& layer) {
  return attend(q, k, v, Rotation{}, layer);
}

}  // namespace gyre::attention
