#include "gyre/model/load/tensor_names.h"

#include "gyre/base/error.h"

namespace gyre::model {
namespace {

struct Spelling {
  Role role;
  const char* hugging_face;
  const char* hugging_face_post_norm;  // where the family has norms after attention and MLP
  const char* gguf;
};

// transformers: modeling_*.py; llama.cpp: gguf-py/gguf/constants.py, TENSOR_NAMES. A fused gate and
// up is called "ffn_up" there.
constexpr Spelling kSpellings[] = {
    {Role::AttentionNorm, "input_layernorm", "input_layernorm", "attn_norm"},
    {Role::Qkv, "self_attn.qkv_proj", "self_attn.qkv_proj", "attn_qkv"},
    {Role::Q, "self_attn.q_proj", "self_attn.q_proj", "attn_q"},
    {Role::K, "self_attn.k_proj", "self_attn.k_proj", "attn_k"},
    {Role::V, "self_attn.v_proj", "self_attn.v_proj", "attn_v"},
    {Role::QNorm, "self_attn.q_norm", "self_attn.q_norm", "attn_q_norm"},
    {Role::KNorm, "self_attn.k_norm", "self_attn.k_norm", "attn_k_norm"},
    {Role::Out, "self_attn.o_proj", "self_attn.o_proj", "attn_output"},
    {Role::AttentionPostNorm, "", "post_attention_layernorm", "post_attention_norm"},
    {Role::MlpNorm, "post_attention_layernorm", "pre_feedforward_layernorm", "ffn_norm"},
    {Role::GateUp, "mlp.gate_up_proj", "mlp.gate_up_proj", "ffn_up"},
    {Role::Gate, "mlp.gate_proj", "mlp.gate_proj", "ffn_gate"},
    {Role::Up, "mlp.up_proj", "mlp.up_proj", "ffn_up"},
    {Role::Down, "mlp.down_proj", "mlp.down_proj", "ffn_down"},
    {Role::MlpPostNorm, "", "post_feedforward_layernorm", "post_ffw_norm"},
};

// Where a language model lies in its checkpoint; the last: a bare decoder without a head.
constexpr const char* kPrefixes[] = {"model.", "model.language_model.", "language_model.model.",
                                     ""};

}  // namespace

TensorNames TensorNames::hugging_face(const TensorStore& store, const Family& family,
                                      const std::string& owner) {
  TensorNames names;
  names.post_norm_ = family.post_norm;
  for (const char* prefix : kPrefixes) {
    if (store.find(std::string(prefix) + "embed_tokens.weight") != nullptr) {
      names.prefix_ = prefix;
      names.head_ = store.find("language_model.lm_head.weight") != nullptr
                        ? "language_model.lm_head."
                        : "lm_head.";
      return names;
    }
  }
  throw Error(Code::Format, owner, ": tensor model.embed_tokens.weight is missing");
}

TensorNames TensorNames::gguf() {
  TensorNames names;
  names.gguf_ = true;
  return names;
}

std::string TensorNames::name(Role role, int64_t layer, const char* end) const {
  switch (role) {
    case Role::Embedding:
      return (gguf_ ? "token_embd." : prefix_ + "embed_tokens.") + end;
    case Role::FinalNorm:
      return (gguf_ ? "output_norm." : prefix_ + "norm.") + end;
    case Role::Head:
      return (gguf_ ? "output." : head_) + end;
    default:
      break;
  }
  for (const Spelling& each : kSpellings) {
    if (each.role == role) {
      const char* own = gguf_        ? each.gguf
                        : post_norm_ ? each.hugging_face_post_norm
                                     : each.hugging_face;
      return str(gguf_ ? "blk." : prefix_ + "layers.", layer, ".", own, ".", end);
    }
  }
  throw Error(Code::Internal, "no name for this role");
}

bool TensorNames::may_be_left(const std::string& tensor) const {
  if (gguf_) {
    return tensor.starts_with("rope_");
  }
  if (tensor.ends_with("rotary_emb.inv_freq")) {
    return true;
  }
  return !prefix_.empty() && !tensor.starts_with(prefix_) && !tensor.starts_with(head_);
}

}  // namespace gyre::model
