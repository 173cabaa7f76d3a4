// The tiny checkpoints of load_testing.h as GGUF files, as llama.cpp's converter would write them:
// q and k rows of permuted architectures turned to interleaved pairs, 1 added to Gemma's norms.
#pragma once

#include "gyre/model/load/load_testing.h"
#include "gyre/position/extension.h"

namespace gyre::model {

/// Rows of n heads, halves -> interleaved pairs: D = 8, 0 1 2 3 4 5 6 7 -> 0 4 1 5 2 6 3 7.
inline at::Tensor permuted(const at::Tensor& rows, int64_t n_heads) {
  const int64_t D = rows.size(0) / n_heads;
  return rows.view({n_heads, 2, D / 2, -1}).transpose(1, 2).reshape(rows.sizes());
}

class TinyGguf {
 public:
  TinyGguf(const Json& tiny, std::string architecture)
      : config_(tiny.at("config")), architecture_(std::move(architecture)) {
    builder.text("general.architecture", architecture_);
    number("block_count", "num_hidden_layers");
    number("embedding_length", "hidden_size");
    number("feed_forward_length", "intermediate_size");
    number("attention.head_count", "num_attention_heads");
    number("attention.head_count_kv", "num_key_value_heads");
    number("context_length", "max_position_embeddings");
    number("attention.key_length", "head_dim");
    number("attention.sliding_window", "sliding_window");
    real("attention.layer_norm_rms_epsilon", config_.at("rms_norm_eps"));
    for (const char* cap : {"attn_logit_softcapping", "final_logit_softcapping"}) {
      if (config_.contains(cap) && config_.at(cap).is_number()) {
        real(cap, config_.at(cap));
      }
    }
    for (const auto& [name, value] : tiny_tensors(tiny)) {
      tensors.emplace_back(gguf_name(name), converted(name, value));
    }
  }

  TinyGguf& real(const std::string& key, double value) {
    builder.f32(architecture_ + "." + key, static_cast<float>(value));
    return *this;
  }

  std::string bytes() const {
    tensor::GgufBuilder whole = builder;
    for (const auto& [name, value] : tensors) {
      add_tensor(whole, name, value);
    }
    return whole.bytes();
  }

  tensor::GgufBuilder builder;
  tensor::NamedTensors tensors;

 private:
  void number(const std::string& key, const char* from) {
    if (config_.contains(from) && config_.at(from).is_number()) {
      builder.u32(architecture_ + "." + key, config_.at(from).get<uint32_t>());
    }
  }

  bool gemma() const { return architecture_.starts_with("gemma"); }

  at::Tensor converted(const std::string& name, const at::Tensor& value) const {
    const bool q = name.find(".q_proj.") != std::string::npos;
    const bool k = name.find(".k_proj.") != std::string::npos;
    if ((architecture_ == "llama" || architecture_ == "smollm3") && (q || k)) {
      return permuted(value,
                      config_.at(q ? "num_attention_heads" : "num_key_value_heads").get<int64_t>());
    }
    // The format has no key for query_pre_attn_scalar: it goes into what scores are linear in.
    const std::string scaled = config_.at("model_type") == "gemma2" ? ".q_proj." : ".q_norm.";
    at::Tensor out = gemma() && name.ends_with("norm.weight") ? value + 1 : value;
    if (config_.contains("query_pre_attn_scalar") && name.find(scaled) != std::string::npos) {
      out = out * std::sqrt(config_.at("head_dim").get<double>() /
                            config_.at("query_pre_attn_scalar").get<double>());
    }
    return out;
  }

  std::string gguf_name(std::string name) const {
    const bool post = architecture_ == "gemma2" || architecture_ == "gemma3";
    const std::pair<std::string, std::string> parts[] = {
        {"model.layers.", "blk."},
        {"model.embed_tokens.", "token_embd."},
        {"model.norm.", "output_norm."},
        {"lm_head.", "output."},
        {"self_attn.qkv_proj", "attn_qkv"},
        {"self_attn.q_proj", "attn_q"},
        {"self_attn.k_proj", "attn_k"},
        {"self_attn.v_proj", "attn_v"},
        {"self_attn.o_proj", "attn_output"},
        {"self_attn.q_norm", "attn_q_norm"},
        {"self_attn.k_norm", "attn_k_norm"},
        {"input_layernorm", "attn_norm"},
        {"post_attention_layernorm", post ? "post_attention_norm" : "ffn_norm"},
        {"pre_feedforward_layernorm", "ffn_norm"},
        {"post_feedforward_layernorm", "post_ffw_norm"},
        {"mlp.gate_up_proj", "ffn_up"},
        {"mlp.gate_proj", "ffn_gate"},
        {"mlp.up_proj", "ffn_up"},
        {"mlp.down_proj", "ffn_down"}};
    for (const auto& [theirs, ours] : parts) {
      if (const size_t at = name.find(theirs); at != std::string::npos) {
        name.replace(at, theirs.size(), ours);
      }
    }
    return name;
  }

  Json config_;
  std::string architecture_;
};

/// The GGUF of a tiny case with what its keys need beyond sizes.
inline TinyGguf tiny_gguf(const std::string& name) {
  const Json tiny = tiny_case(name);
  const std::string type = tiny.at("config").at("model_type");
  TinyGguf out(tiny, type == "gemma3_text" ? "gemma3" : type);
  if (name == "gemma3") {
    out.real("rope.freq_base", 1000.0).real("rope.freq_base_swa", 100.0);
    out.builder.booleans("gemma3.attention.sliding_window_pattern", {1, 1, 0});
    out.builder.text("gemma3.rope.scaling.type", "linear");
    out.real("rope.scaling.factor", 4.0);
  } else if (name == "llama_bands") {
    position::Bands bands;
    for (int m = 0; m < 6; ++m) {
      bands.push_back(std::pow(10000.0, -2.0 * m / 12));
    }
    const auto kept = position::llama3_bands(
        bands, {.factor = 8.0, .low_freq_factor = 1.0, .high_freq_factor = 4.0, .original = 16.0});
    std::vector<float> divisors;
    for (const double each : position::gguf_divisors(kept.bands, 10000.0, 12)) {
      divisors.push_back(static_cast<float>(each));
    }
    out.builder.floats("rope_freqs.weight", divisors);
  } else if (name == "smollm3_by_rule") {
    out.real("rope.freq_base", 50000.0);
  } else if (name == "phi3_by_length") {
    const Json& rope = tiny.at("config").at("rope_parameters");
    out.builder.u32("phi3.rope.dimension_count", 12);
    out.builder.u32("phi3.rope.scaling.original_context_length", 16);
    out.real("rope.scaling.attn_factor", std::sqrt(1.0 + std::log(4.0) / std::log(16.0)));
    out.builder.floats("rope_factors_long.weight", rope.at("long_factor"));
    out.builder.floats("rope_factors_short.weight", rope.at("short_factor"));
  }
  return out;
}

}  // namespace gyre::model
