#include "gyre/model/config.h"

#include "gyre/base/error.h"
#include "gyre/model/shapes.h"

namespace gyre::model {
namespace {

void require_positive(const char* name, int64_t value) {
  if (value <= 0) {
    throw Error(Code::Usage, "--", name, " must be positive, got ", value);
  }
}

}  // namespace

void check(const ModelConfig& config) {
  if (config.vocab == 0) {
    throw Error(Code::Usage, "--vocab is 0, the tokenizer's; set it before a model is built");
  }
  require_positive("vocab", config.vocab);
  require_positive("width", config.width);
  require_positive("layers", config.layers);
  require_positive("heads", config.heads);
  require_positive("head-dim", config.head_dim);
  require_positive("hidden", config.hidden);
  if (config.kv_heads < 0 || config.heads % config.n_kv_heads() != 0) {
    throw Error(Code::Usage, "--kv-heads must divide --heads ", config.heads, ", got ",
                config.kv_heads);
  }
  if (config.head_dim % 2 != 0) {
    throw Error(Code::Usage, "--head-dim must be even, got ", config.head_dim);
  }
  if (!(config.init_std >= 0)) {
    throw Error(Code::Usage, "--init-std must be at least 0, got ", config.init_std);
  }
  if (!(config.embedding_scale > 0)) {
    throw Error(Code::Usage, "--embedding-scale must be positive, got ", config.embedding_scale);
  }
  if (!(config.logit_cap >= 0)) {
    throw Error(Code::Usage, "--logit-cap must be positive, or 0 for none, got ", config.logit_cap);
  }
  if (!(config.norm_eps > 0)) {
    throw Error(Code::Usage, "--norm-eps must be positive, got ", config.norm_eps);
  }
}

int64_t count_parameters(const ModelConfig& config) {
  int64_t n = 0;
  for (const ParameterShape& shape : parameter_shapes(config)) {
    n += shape.numel();
  }
  return n;
}

int64_t count_block_matrices(const ModelConfig& config) {
  int64_t n = 0;
  for (const ParameterShape& shape : parameter_shapes(config)) {
    n += shape.group == ParamGroup::Matrix && shape.sizes.size() == 2 ? shape.numel() : 0;
  }
  return n;
}

double train_flops_per_token(const ModelConfig& config, int64_t length) {
  // 2 flops per weight forward, 4 backward; the embedding look-up is no matmul, the output head is.
  const auto weights = static_cast<double>(count_block_matrices(config)) +
                       static_cast<double>(config.vocab) * static_cast<double>(config.width);
  // q.k and p.v over T/2 visible keys on average: 4 H D (T/2) forward, twice that backward.
  const auto attention = static_cast<double>(config.layers * config.heads * config.head_dim) *
                         static_cast<double>(length);
  return 6.0 * weights + 6.0 * attention;
}

position::PlanRequest plan_request(const ModelConfig& config, int64_t train_length) {
  return {.n_layers = config.layers,
          .n_heads = config.heads,
          .n_kv_heads = config.n_kv_heads(),
          .head_dim = config.head_dim,
          .train_length = train_length,
          .layout = config.layout};
}

}  // namespace gyre::model
