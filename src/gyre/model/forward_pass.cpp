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

at::Tensor ForwardPass::attention(const at::Tensor& x_BTC, int64_t n) {
  const ModelConfig& config = model_.config();
  const std::string prefix = str("blocks.", n, ".attention.");
  const int64_t H = config.heads, G = config.n_kv_heads();
  const auto i = static_cast<size_t>(n);
  const at::Tensor qkv_BTF = linear(x_BTC, linear_layer(prefix + "qkv"));
  const bool apart = config.qk_norm || pass_.tap != nullptr || pass_.cache != nullptr;
  const at::Tensor y_BTF = apart
                               ? attend_apart(qkv_BTF, n)
                               : attention::attend_packed(qkv_BTF, H, G, rotations_[i],
                                                          model_.plan().layers[i], pass_.first_key);
  const at::Tensor out_BTC = linear(y_BTF, linear_layer(prefix + "out"));
  return after_norm(out_BTC, str("blocks.", n, ".attention_post_norm"));
}

// With whatever wants queries and keys on their own: a norm, a capture, a cache.
at::Tensor ForwardPass::attend_apart(const at::Tensor& qkv_BTF, int64_t n) {
  const ModelConfig& config = model_.config();
  const std::string prefix = str("blocks.", n, ".attention.");
  const int64_t H = config.heads, G = config.n_kv_heads(), D = config.head_dim;
  const auto parts = qkv_BTF.split_with_sizes({H * D, G * D, G * D}, -1);
  at::Tensor q = parts[0].view({B_, T_, H, D}), k = parts[1].view({B_, T_, G, D});
  if (config.qk_norm) {
    q = apply_norm(q, norm_layer(prefix + "q_norm"), dtype_);
    k = apply_norm(k, norm_layer(prefix + "k_norm"), dtype_);
  }
  q = q.transpose(1, 2);
  k = k.transpose(1, 2);
  at::Tensor v = parts[2].view({B_, T_, G, D}).transpose(1, 2);
  if (pass_.tap != nullptr) {
    pass_.tap(n, q, k, v);
  }
  const auto i = static_cast<size_t>(n);
  attention::Rotation rotation = rotations_[i];
  at::Tensor first_key = pass_.first_key;
  if (pass_.cache != nullptr) {  // which keeps keys as they were rotated
    std::tie(q, k) = attention::rotate(q, k, rotation);
    const KvCache::Held held = pass_.cache->append(n, k, v);
    k = held.k;
    v = held.v;
    first_key = pass_.cache->first_key(held, T_);
    rotation = {};
  }
  const at::Tensor y = attention::attend(q, k, v, rotation, model_.plan().layers[i], first_key);
  return y.transpose(1, 2).flatten(2);
}

at::Tensor ForwardPass::mlp(const at::Tensor& x_BTC, int64_t n) const {
  const std::string prefix = str("blocks.", n, ".mlp.");
  const Mlp kind = model_.config().mlp;
  const char* first = kind == Mlp::Gelu ? "up" : "gate_up";
  const at::Tensor up_BTF = linear(x_BTC, linear_layer(prefix + first));
  const at::Tensor down_BTC = activated_linear(up_BTF, kind, linear_layer(prefix + "down"));
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
  for (int64_t n = 0; n < model_.config().layers; ++n) {
    const std::string prefix = str("blocks.", n, ".");
    delta_BTC = attention(add_and_norm(prefix + "attention_norm"), n);
    delta_BTC = mlp(add_and_norm(prefix + "mlp_norm"), n);
  }
  return add_and_norm("norm");
}

}  // namespace gyre::model
