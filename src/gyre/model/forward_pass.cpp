#include "gyre/model/forward_pass.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/tensor.h>

#include "gyre/attention/attention.h"
#include "gyre/base/error.h"

namespace gyre::model {
namespace {

at::Tensor plan_theta(const position::LayerPlan& layer, at::Device device) {
  std::vector<double> flat;
  for (const auto& group : layer.inv_freq) {
    flat.insert(flat.end(), group.begin(), group.end());
  }
  const auto groups = static_cast<int64_t>(layer.inv_freq.size());
  return at::tensor(flat, at::kDouble).view({groups, -1}).to(device);
}

/// Whether layer n can use the table of layer m.
bool same_rotation(const position::PositionPlan& plan, size_t n, size_t m) {
  const bool shared = plan.learning.sharing == position::Sharing::None ||
                      plan.learning.sharing == position::Sharing::All;
  const position::LayerPlan &a = plan.layers[n], &b = plan.layers[m];
  return shared && a.inv_freq == b.inv_freq && a.amplitude == b.amplitude && a.decay == b.decay &&
         a.query_growth == b.query_growth && a.query_growth_floor == b.query_growth_floor;
}

/// The layer's output channels [begin, begin + n).
LinearLayer outputs_of(const LinearLayer& layer, int64_t begin, int64_t n) {
  return {layer.weight.narrow(0, begin, n),
          layer.bias.defined() ? layer.bias.narrow(0, begin, n) : layer.bias};
}

/// x itself when that is all of it, so that training has no further step.
at::Tensor last_of(const at::Tensor& x, int64_t dim, int64_t n) {
  return x.defined() && n < x.size(dim) ? x.narrow(dim, x.size(dim) - n, n) : x;
}

/// Queries may be those of the last tokens alone.
std::pair<at::Tensor, at::Tensor> rotated(const at::Tensor& q, const at::Tensor& k,
                                          const attention::Rotation& rotation) {
  const int64_t n = q.size(2);
  if (n == k.size(2)) {
    return attention::rotate(q, k, rotation);
  }
  // Each side goes with a partner of its own length, whose result is dropped.
  const at::Tensor k_out = attention::rotate(k, k, rotation).second;
  if (n == 0) {
    return {q, k_out};
  }
  return {attention::rotate(q, last_of(k, 2, n), attention::last_rows(rotation, n)).first, k_out};
}

}  // namespace

at::Tensor layer_theta(const Transformer& model, int64_t n) {
  const position::LayerPlan& layer = model.plan().layers[static_cast<size_t>(n)];
  if (layer.inv_freq.empty() || layer.inv_freq.front().empty()) {
    return {};
  }
  const at::Tensor base = plan_theta(layer, model.device());
  if (!model.has_parameter("alpha")) {
    return base;
  }
  const at::Tensor& alpha = model.parameter("alpha").value;
  const at::Tensor mine = alpha.dim() == 1 ? alpha : alpha[n];  // [P] or [G, P]
  return base * mine.to(at::kDouble).exp();
}

ForwardPass::ForwardPass(const Transformer& model, const at::Tensor& tokens, const Pass& pass)
    : model_(model),
      tokens_(tokens),
      pass_(pass),
      dtype_(model.compute_dtype()),
      B_(tokens.size(0)),
      T_(tokens.size(1)),
      first_position_(pass.cache == nullptr ? 0 : pass.cache->next_position()) {}

LinearLayer ForwardPass::linear_layer(const std::string& name) const {
  const std::string bias = name + ".bias";
  return {model_.weight(name + ".weight"),
          model_.has_parameter(bias) ? model_.weight(bias) : at::Tensor()};
}

NormLayer ForwardPass::norm_layer(const std::string& name) const {
  const std::string bias = name + ".bias";
  return {model_.weight(name + ".weight"),
          model_.has_parameter(bias) ? model_.weight(bias) : at::Tensor(), model_.config().norm,
          model_.config().norm_eps};
}

void ForwardPass::build_rotations() {
  const position::PositionPlan& plan = model_.plan();
  const at::Tensor positions =
      at::arange(first_position_, first_position_ + T_, tokens_.options().dtype(at::kLong));
  const at::ScalarType table_dtype = dtype_ == at::kDouble ? at::kDouble : at::kFloat;
  // Decayed keys that a cache keeps were made relative to the same origin in every call.
  const auto origin = pass_.cache == nullptr ? std::nullopt : std::optional<int64_t>(0);
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    size_t m = 0;
    while (m < n && !same_rotation(plan, n, m)) {
      ++m;
    }
    rotations_.push_back(
        m < n ? rotations_[m]
              : attention::make_rotation(layer_theta(model_, static_cast<int64_t>(n)), positions,
                                         plan.layout, plan.layers[n], table_dtype, origin));
  }
}

at::Tensor ForwardPass::attention(const at::Tensor& x_BTC, int64_t n, int64_t n_queries) {
  const ModelConfig& config = model_.config();
  const std::string prefix = str("blocks.", n, ".attention.");
  const int64_t H = config.heads, G = config.n_kv_heads();
  const int64_t q_width = H * config.head_dim, k_width = G * config.head_dim;
  const auto i = static_cast<size_t>(n);
  const LinearLayer qkv = linear_layer(prefix + "qkv");
  at::Tensor y_BTF;
  if (n_queries < T_) {
    const at::Tensor q_BTF = linear(last_of(x_BTC, 1, n_queries), outputs_of(qkv, 0, q_width));
    const auto parts = linear(x_BTC, outputs_of(qkv, q_width, 2 * k_width)).chunk(2, -1);
    y_BTF = attend_apart({q_BTF, parts[0], parts[1]}, n);
  } else if (config.qk_norm || pass_.tap != nullptr || pass_.cache != nullptr) {
    const auto parts = linear(x_BTC, qkv).split_with_sizes({q_width, k_width, k_width}, -1);
    y_BTF = attend_apart({parts[0], parts[1], parts[2]}, n);
  } else {
    y_BTF = attention::attend_packed(linear(x_BTC, qkv), H, G, rotations_[i],
                                     model_.plan().layers[i], pass_.first_key);
  }
  const at::Tensor out_BTC = linear(y_BTF, linear_layer(prefix + "out"));
  return after_norm(out_BTC, str("blocks.", n, ".attention_post_norm"));
}

// With whatever wants queries and keys on their own: a norm, a capture, a cache, fewer queries.
at::Tensor ForwardPass::attend_apart(const Projected& x, int64_t n) {
  const ModelConfig& config = model_.config();
  const std::string prefix = str("blocks.", n, ".attention.");
  const int64_t H = config.heads, G = config.n_kv_heads(), D = config.head_dim;
  const int64_t n_queries = x.q_BTF.size(1);
  at::Tensor q = x.q_BTF.view({B_, n_queries, H, D}), k = x.k_BTF.view({B_, T_, G, D});
  if (config.qk_norm) {
    q = apply_norm(q, norm_layer(prefix + "q_norm"), dtype_);
    k = apply_norm(k, norm_layer(prefix + "k_norm"), dtype_);
  }
  q = q.transpose(1, 2);
  k = k.transpose(1, 2);
  at::Tensor v = x.v_BTF.view({B_, T_, G, D}).transpose(1, 2);
  if (pass_.tap != nullptr) {
    pass_.tap(n, q, k, v);
  }
  if (!q.defined()) {  // the tap attended
    TORCH_CHECK_VALUE(pass_.cache == nullptr,
                      "transformer: a tap that attends itself does not go with a cache");
    return v.transpose(1, 2).flatten(2);
  }
  const auto i = static_cast<size_t>(n);
  attention::Rotation rotation = rotations_[i];
  at::Tensor first_key = last_of(pass_.first_key, 1, n_queries);
  if (pass_.cache != nullptr || n_queries < T_) {  // a cache keeps keys as they were rotated
    std::tie(q, k) = rotated(q, k, rotation);
    rotation = {};
  }
  if (pass_.cache != nullptr) {
    const KvCache::Held held = pass_.cache->append(n, k, v);
    k = held.k;
    v = held.v;
    first_key = pass_.cache->first_key(held, n_queries);
  }
  if (n_queries == 0) {
    return x.q_BTF;
  }
  const at::Tensor y = attention::attend(q, k, v, rotation, model_.plan().layers[i], first_key);
  return y.transpose(1, 2).flatten(2);
}

at::Tensor ForwardPass::mlp(const at::Tensor& x_BTC, int64_t n) const {
  const std::string prefix = str("blocks.", n, ".mlp.");
  const Mlp kind = model_.config().mlp;
  const char* first = kind == Mlp::Gelu ? "up" : "gate_up";
  const LinearLayer up = linear_layer(prefix + first), down = linear_layer(prefix + "down");
  const at::Tensor down_BTC = model::mlp(x_BTC, up, kind, down);
  return after_norm(down_BTC, str("blocks.", n, ".mlp_post_norm"));
}

at::Tensor ForwardPass::after_norm(const at::Tensor& x_BTC, const std::string& name) const {
  return model_.config().post_norm ? apply_norm(x_BTC, norm_layer(name), dtype_) : x_BTC;
}

at::Tensor ForwardPass::run() {
  build_rotations();
  // The residual stream x stays in the master type; matmuls and attention use the compute type.
  // Each sum x + delta is made together with the norm that reads it.
  at::Tensor x_BTC = at::embedding(model_.weight("embedding.weight"), tokens_);
  x_BTC = x_BTC.to(dtype_ == at::kDouble ? at::kDouble : at::kFloat);
  if (model_.config().embedding_scale != 1.0) {
    x_BTC = x_BTC * model_.config().embedding_scale;
  }
  at::Tensor delta_BTC;
  const auto add_and_norm = [&](const std::string& name) {
    const Normed out = add_norm(x_BTC, delta_BTC, norm_layer(name), dtype_);
    x_BTC = out.sum;
    return out.norm;
  };
  // Past the keys and values of the last block nothing reads the tokens that nobody wants.
  const int64_t n_wanted = pass_.wanted_rows.value_or(T_), n_layers = model_.config().layers;
  for (int64_t n = 0; n < n_layers; ++n) {
    const std::string prefix = str("blocks.", n, ".");
    const int64_t n_rows = n + 1 < n_layers || pass_.tap != nullptr ? T_ : n_wanted;
    delta_BTC = attention(add_and_norm(prefix + "attention_norm"), n, n_rows);
    x_BTC = last_of(x_BTC, 1, n_rows);
    if (n_rows == 0) {
      return x_BTC.to(dtype_);
    }
    delta_BTC = mlp(add_and_norm(prefix + "mlp_norm"), n);
  }
  return last_of(add_and_norm("norm"), 1, n_wanted);
}

}  // namespace gyre::model
