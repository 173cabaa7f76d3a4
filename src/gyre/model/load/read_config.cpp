#include "gyre/model/load/read_config.h"

#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/model/load/check_stated.h"
#include "gyre/model/load/config_keys.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

Mlp activation_of(const ConfigKeys& keys, const Family& family, const std::string& owner) {
  const std::string name =
      keys.gguf() ? family.activation : keys.text(family.activation_key, family.activation);
  if (name == "silu" || name == "swish") {
    return Mlp::SwiGlu;
  }
  if (name == "gelu_pytorch_tanh" || name == "gelu_new" ||
      (name == "gelu" && family.any_gelu_is_tanh)) {
    return Mlp::GeGlu;
  }
  throw Error(Code::Format, owner, ": ", family.activation_key, " is '", tensor::printable(name),
              "', expected silu or gelu_pytorch_tanh");
}

StoredBiases biases_of(const ConfigKeys& keys, const Family& family, const TensorNames& names,
                       const TensorStore& store) {
  if (!keys.gguf()) {
    const bool attention = keys.flag(family.attention_bias_key, false);
    return {family.qkv_bias || attention, attention, keys.flag(family.mlp_bias_key, false)};
  }
  const auto has = [&](Role role) { return store.find(names.name(role, 0, "bias")) != nullptr; };
  return {family.qkv_bias || has(Role::Q) || has(Role::Qkv), has(Role::Out), has(Role::Down)};
}

/// One number of all layers.
template <class Get>
int64_t common(const inspect::ResolvedModel& model, const char* what, Get get) {
  const int64_t first = get(model.kinds.front());
  for (const inspect::LayerKind& kind : model.kinds) {
    if (get(kind) != first) {
      throw Error(Code::Format, model.path, ": layers differ in their ", what, ", ", first, " and ",
                  get(kind), ", which is not supported");
    }
  }
  return first;
}

const StoredInfo& need(const TensorStore& store, const std::string& name) {
  const StoredInfo* info = store.find(name);
  if (info == nullptr) {
    throw Error(Code::Format, store.tensors().front().file, ": tensor ", name, " is missing");
  }
  if (info->sizes.size() != 2) {
    throw Error(Code::Format, info->file, ": tensor ", name, " has ", info->sizes.size(),
                " dimensions, expected 2");
  }
  return *info;
}

bool tied_of(const ConfigKeys& keys, const Family& family, const TensorNames& names,
             const TensorStore& store) {
  const std::string head = names.name(Role::Head);
  const bool stored = store.find(head) != nullptr;
  if (keys.gguf()) {
    return !stored;
  }
  // transformers 5 unties a head that was saved apart and differs.
  return keys.tied(family.tied) && !(stored && !store.same(head, names.name(Role::Embedding)));
}

}  // namespace

ModelSettings read_settings(const inspect::ResolvedModel& resolved, const Family& family,
                            const TensorNames& names, const TensorStore& store, int64_t n_tokens) {
  using inspect::LayerKind;
  const ConfigKeys keys(resolved);
  check_class(keys, family);
  if (resolved.kinds.empty()) {
    throw Error(Code::Format, resolved.path, ": no layer with attention");
  }
  ModelSettings out;
  ModelConfig& config = out.config;
  const StoredInfo& embedding = need(store, names.name(Role::Embedding));
  const StoredInfo& down = need(store, names.name(Role::Down));
  const bool gguf = keys.gguf();
  config.vocab = gguf ? embedding.sizes[0] : keys.size("vocab_size", embedding.sizes[0]);
  config.width = resolved.hidden > 0 ? resolved.hidden : embedding.sizes[1];
  config.hidden = gguf ? down.sizes[1] : keys.size("intermediate_size", down.sizes[1]);
  config.layers = resolved.n_layers;
  config.heads = common(resolved, "heads", [](const LayerKind& k) { return k.n_heads; });
  config.kv_heads =
      common(resolved, "key/value heads", [](const LayerKind& k) { return k.n_kv_heads; });
  config.head_dim = common(resolved, "head dim", [](const LayerKind& k) { return k.head_dim; });
  config.norm = Norm::Rms;
  config.norm_eps =
      keys.number(gguf ? "attention.layer_norm_rms_epsilon" : "rms_norm_eps", family.norm_eps);
  config.mlp = activation_of(keys, family, resolved.path);
  config.qk_norm = family.qk_norm;
  config.post_norm = family.post_norm;
  config.tied = tied_of(keys, family, names, store);
  config.embedding_scale =
      family.scaled_embedding ? std::sqrt(static_cast<double>(config.width)) : 1.0;
  config.logit_cap = keys.cap(family.logit_cap_key, family.logit_cap);
  out.score_cap = keys.cap(family.score_cap_key, family.score_cap);
  if (!gguf && family.query_scale > 0) {
    const double scale =
        keys.number("query_pre_attn_scalar", static_cast<double>(family.query_scale));
    if (!(scale > 0)) {
      keys.wrong(*keys.find("query_pre_attn_scalar"), "a number above 0");
    }
    out.logit_scale = std::sqrt(static_cast<double>(config.head_dim) / scale);
  }
  out.biases = biases_of(keys, family, names, store);
  config.bias = out.biases.out || out.biases.mlp;
  config.qkv_bias = out.biases.qkv && !config.bias;
  const auto layout =
      static_cast<position::PairLayout>(common(resolved, "pair layout", [&](const LayerKind& k) {
        return static_cast<int64_t>(k.rotary_dim > 0 ? k.layout : resolved.kinds.front().layout);
      }));
  config.layout = gguf && family.gguf_permuted ? position::PairLayout::Halves : layout;
  check_stated(keys, config,
               {.embedding_rows = embedding.sizes[0],
                .down = down.name,
                .down_columns = down.sizes[1],
                .n_tokens = n_tokens,
                .whole_heads = family.gguf_permuted});
  check(config);
  return out;
}

}  // namespace gyre::model
