#include "gyre/model/shapes.h"

#include <cmath>
#include <functional>
#include <numeric>

#include "gyre/base/error.h"

namespace gyre::model {
namespace {

class Builder {
 public:
  explicit Builder(const ModelConfig& config) : config_(config) {}

  enum class Role { Plain, Residual, Qkv };

  void matrix(const std::string& name, int64_t rows, int64_t columns, Role role = Role::Plain) {
    const double std_dev =
        config_.init_std > 0.0 ? config_.init_std : 1.0 / std::sqrt(static_cast<double>(columns));
    const double depth = std::sqrt(2.0 * static_cast<double>(config_.layers));
    list_.push_back({name + ".weight",
                     {rows, columns},
                     ParamGroup::Matrix,
                     0.0,
                     role == Role::Residual ? std_dev / depth : std_dev});
    if (config_.bias || (config_.qkv_bias && role == Role::Qkv)) {
      list_.push_back({name + ".bias", {rows}, ParamGroup::Norm, 0.0, 0.0});
    }
  }

  void norm(const std::string& name, int64_t size) {
    list_.push_back({name + ".weight", {size}, ParamGroup::Norm, 1.0, 0.0});
    if (config_.bias && config_.norm == Norm::Layer) {
      list_.push_back({name + ".bias", {size}, ParamGroup::Norm, 0.0, 0.0});
    }
  }

  void embedding(const std::string& name, double std_dev) {
    list_.push_back({name, {config_.vocab, config_.width}, ParamGroup::Embedding, 0.0, std_dev});
  }

  void block(const std::string& prefix) {
    const int64_t query_dim = config_.heads * config_.head_dim;
    const int64_t kv_dim = config_.n_kv_heads() * config_.head_dim;
    norm(prefix + "attention_norm", config_.width);
    matrix(prefix + "attention.qkv", query_dim + 2 * kv_dim, config_.width, Role::Qkv);
    if (config_.qk_norm) {
      norm(prefix + "attention.q_norm", config_.head_dim);
      norm(prefix + "attention.k_norm", config_.head_dim);
    }
    matrix(prefix + "attention.out", config_.width, query_dim, Role::Residual);
    if (config_.post_norm) {
      norm(prefix + "attention_post_norm", config_.width);
    }
    norm(prefix + "mlp_norm", config_.width);
    if (config_.mlp == Mlp::Gelu) {
      matrix(prefix + "mlp.up", config_.hidden, config_.width);
    } else {
      matrix(prefix + "mlp.gate_up", 2 * config_.hidden, config_.width);
    }
    matrix(prefix + "mlp.down", config_.width, config_.hidden, Role::Residual);
    if (config_.post_norm) {
      norm(prefix + "mlp_post_norm", config_.width);
    }
  }

  std::vector<ParameterShape> take() { return std::move(list_); }

 private:
  const ModelConfig& config_;
  std::vector<ParameterShape> list_;
};

}  // namespace

int64_t ParameterShape::numel() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

std::vector<ParameterShape> parameter_shapes(const ModelConfig& config) {
  check(config);
  Builder builder(config);
  const double spread = config.init_std > 0.0 ? config.init_std : 0.02;
  builder.embedding("embedding.weight", spread);
  for (int64_t n = 0; n < config.layers; ++n) {
    builder.block(str("blocks.", n, "."));
  }
  builder.norm("norm", config.width);
  if (!config.tied) {
    const double fan_in = 1.0 / std::sqrt(static_cast<double>(config.width));
    builder.embedding("head.weight", config.init_std > 0.0 ? config.init_std : fan_in);
  }
  return builder.take();
}

std::vector<int64_t> alpha_sizes(const ModelConfig& config, const position::PositionPlan& plan) {
  const int64_t n_pairs = plan.n_pairs();
  switch (plan.learning.sharing) {
    case position::Sharing::All:
      return {n_pairs};
    case position::Sharing::Layer:
      return {config.layers, n_pairs};
    case position::Sharing::Head:
      return {config.layers, config.n_kv_heads(), n_pairs};
    case position::Sharing::None:
      break;
  }
  return {};
}

}  // namespace gyre::model
