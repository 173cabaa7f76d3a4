// What a family of models does beyond its positions (inspect/architectures.def has those): names of
// tensors, biases, norms, caps. All of it is data in families.def; nothing else in gyre knows a
// family's weights. Adding a family = adding an entry there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::model {

struct Family {
  std::string name{};
  std::vector<std::string> model_types{};  // config.json "model_type", of the language model's part
  std::vector<std::string> gguf{};         // general.architecture

  double norm_eps = 1e-6;    // class default of rms_norm_eps
  bool tied = false;         // class default of tie_word_embeddings
  bool unit_offset = false;  // Hugging Face stores w of a norm that multiplies by 1 + w; GGUF 1 + w
  bool scaled_embedding = false;     // embeddings times sqrt(width)
  bool qk_norm = false;              // norms of q and k per head
  bool post_norm = false;            // norms after attention and MLP, before the residual sum
  bool qkv_bias = false;             // q, k and v always have biases
  std::string attention_bias_key{};  // a true/false key, default false: q, k, v and out have them
  std::string mlp_bias_key{};        // the same for the MLP

  std::string activation_key = "hidden_act";
  std::string activation = "silu";  // class default
  bool any_gelu_is_tanh = false;    // "gelu" is a legacy spelling of the tanh form
  int64_t query_scale = 0;          // class default of query_pre_attn_scalar; 0 = head dim
  double score_cap = 0.0;           // class default of attn_logit_softcapping
  std::string score_cap_key{};      // "" = never capped
  double logit_cap = 0.0;           // class default of final_logit_softcapping
  std::string logit_cap_key{};
  bool gguf_permuted = false;  // the converter turned q and k rows from halves to interleaved pairs
};

const std::vector<Family>& families();

/// Null when no family has it.
const Family* find_family(std::string_view model_type);
const Family* find_gguf_family(std::string_view architecture);

/// "llama, mistral, ...", for messages.
std::string known_model_types();
std::string known_gguf_architectures();

}  // namespace gyre::model
