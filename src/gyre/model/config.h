// Shape of a decoder: one options struct and the named presets.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/options.h"
#include "gyre/position/plan.h"

namespace gyre::model {

enum class Norm { Rms, Layer };
enum class Mlp { SwiGlu, GeGlu, Gelu };

struct ModelConfig {
  int64_t vocab = 256;    // V
  int64_t width = 128;    // C
  int64_t layers = 3;     // N
  int64_t heads = 2;      // H, query heads
  int64_t kv_heads = 0;   // G; 0 = heads
  int64_t head_dim = 64;  // D
  int64_t hidden = 384;   // F, width of the MLP
  Norm norm = Norm::Rms;
  Mlp mlp = Mlp::SwiGlu;
  position::PairLayout layout = position::PairLayout::Unstated;  // every preset states its own
  bool qk_norm = false;    // norm of q and k per head, before the rotation
  bool post_norm = false;  // norms of what attention and MLP add, too (Gemma 2)
  bool bias = false;       // biases in linear layers
  bool qkv_bias = false;   // a bias in the projection to q, k and v alone (Qwen 2)
  bool tied = true;        // output head = embedding
  double init_std = 0.02;  // of every matrix; 0 = 1 / sqrt(fan in); residual outputs / sqrt(2 N)
  double norm_eps = 1e-5;
  double embedding_scale = 1.0;  // factor on embedded tokens (Gemma: sqrt of the width)
  double logit_cap = 0.0;        // logits become cap * tanh(logit / cap); 0 = none

  template <class V>
  void fields(V& v) {
    v("vocab", vocab, "vocabulary size; 0 = that of the tokenizer");
    v("width", width, "model width");
    v("layers", layers, "number of blocks");
    v("heads", heads, "query heads");
    v("kv-heads", kv_heads, "key/value heads; 0 = heads");
    v("head-dim", head_dim, "channels per head");
    v("hidden", hidden, "width of the MLP");
    v("norm", norm, "rms | layer");
    v("mlp", mlp, "swiglu | geglu | gelu");
    v("layout", layout, "channels of a rotated pair: interleaved (0,1) or halves (0,D/2)");
    v("qk-norm", qk_norm, "normalise q and k per head before the rotation");
    v("post-norm", post_norm, "norms of what attention and MLP add to the stream, too");
    v("bias", bias, "biases in linear layers");
    v("qkv-bias", qkv_bias, "a bias in the projection to q, k and v alone");
    v("tied", tied, "output head shares the embedding");
    v("init-std", init_std, "standard deviation of initial weights; 0 = 1/sqrt(fan in)");
    v("norm-eps", norm_eps, "epsilon of the norms");
    v("embedding-scale", embedding_scale, "factor on embedded tokens");
    v("logit-cap", logit_cap, "logits become cap * tanh(logit / cap); 0 = none");
  }

  int64_t n_kv_heads() const { return kv_heads == 0 ? heads : kv_heads; }
};

/// Throws Error(Usage) naming the option that does not fit.
void check(const ModelConfig& config);

struct Preset {
  std::string name;
  std::string summary;
  ModelConfig config;
  int64_t length = 0;  // training sequence length the preset was published with, tokens
  int64_t batch = 0;   // sequences per step
  int64_t steps = 0;   // 0 = by --tokens
};

/// tiny, h2 ... h40 (the Enoki ladder), gemma2b-paper.
const std::vector<Preset>& presets();
const Preset& find_preset(std::string_view name);  // Error(Usage) names the nearest

/// Non-embedding parameters of the published ladder's rule, 12 C^2 N: matrices of blocks only.
int64_t count_block_matrices(const ModelConfig& config);

/// Parameter count by shape alone, alpha excluded, and training FLOPs per token at length T.
int64_t count_parameters(const ModelConfig& config);
double train_flops_per_token(const ModelConfig& config, int64_t length);

position::PlanRequest plan_request(const ModelConfig& config, int64_t train_length);

}  // namespace gyre::model

template <>
struct gyre::EnumNames<gyre::model::Norm> {
  static constexpr std::pair<gyre::model::Norm, const char*> list[] = {
      {gyre::model::Norm::Rms, "rms"}, {gyre::model::Norm::Layer, "layer"}};
};
template <>
struct gyre::EnumNames<gyre::model::Mlp> {
  static constexpr std::pair<gyre::model::Mlp, const char*> list[] = {
      {gyre::model::Mlp::SwiGlu, "swiglu"},
      {gyre::model::Mlp::GeGlu, "geglu"},
      {gyre::model::Mlp::Gelu, "gelu"}};
};
