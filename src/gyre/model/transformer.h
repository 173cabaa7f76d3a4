// A decoder-only Transformer, configured by ModelConfig and a PositionPlan. Parameters are plain
// tensors with names; positions come from the plan alone.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gyre/attention/rotation.h"
#include "gyre/model/config.h"
#include "gyre/model/kv_cache.h"
#include "gyre/model/weights.h"
#include "gyre/position/plan.h"

namespace gyre::model {

/// Sees q, k, v of layer n, [B, H, T, D] and [B, G, T, D], after QK-norm, before the rotation; may
/// replace them, or attend itself: then it leaves q undefined and in v the result, [B, H, T, D].
using Tap = std::function<void(int64_t n, at::Tensor& q, at::Tensor& k, at::Tensor& v)>;

/// A tap that keeps queries and keys of each layer.
struct Capture {
  std::vector<at::Tensor> q, k;  // per layer
  Tap tap();                     // valid while this lives; starts anew at layer 0
};

/// What a pass may be given besides tokens.
struct Pass {
  KvCache* cache = nullptr;  // tokens continue it
  Tap tap{};
  /// [B, T] int64: query t sees no key of this call before this one (packed documents); not with a
  /// cache, which has its own padding.
  at::Tensor first_key{};
  /// Hidden states and logits of so many last tokens alone; none = of all. The last block then
  /// computes keys and values of every token and the rest for these: 0 fills the cache and no more.
  /// A tap sees all tokens all the same.
  std::optional<int64_t> wanted_rows{};
};

/// Optimizer groups: what is decayed, clipped and stepped alike.
enum class ParamGroup { Matrix, Embedding, Norm, Alpha };

struct Parameter {
  std::string
      name;  // "blocks.0.attention.qkv.weight"; stable, used in checkpoints and seed streams
  at::Tensor value;  // float32 master weight (float64 for exact tests), requires grad
  ParamGroup group;
};

class Transformer {
 public:
  /// device meta: shapes only, no memory. dtype: at::kFloat, or at::kDouble for exact tests.
  Transformer(const ModelConfig& config, const position::PositionPlan& plan,
              at::Device device = at::kCPU, at::ScalarType dtype = at::kFloat);
  /// A model that is only run: parameters come from `weights` as they are needed, in its type; the
  /// residual stream is float32 (float64). parameters() has names without values.
  Transformer(const ModelConfig& config, const position::PositionPlan& plan,
              std::shared_ptr<WeightSource> weights);

  /// Draws every weight from its own stream (seed, parameter name): models whose shapes agree start
  /// equal, whatever else differs. alpha starts at 0.
  void init(uint64_t seed);

  /// Compute dtype of matrices and activations: at::kFloat (default) or at::kBFloat16; a double
  /// model computes in double only.
  void set_compute_dtype(at::ScalarType dtype);
  at::ScalarType compute_dtype() const { return compute_dtype_; }

  /// Logits [B, T, V] float of tokens [B, T] int64, or of the wanted rows. With a cache, tokens
  /// continue it.
  /// throws c10::ValueError when the cache would grow past plan().holds_to, where other tables
  /// begin, or was filled under another plan; when more rows are wanted than there are tokens
  at::Tensor forward(const at::Tensor& tokens, const Pass& pass = {}) const;

  /// Negative log-likelihood in nats per token, [B, T] float32 (float64 for a float64 model),
  /// log-sum-exp in that type; differentiable.
  at::Tensor nll(const at::Tensor& tokens, const at::Tensor& targets) const;

  /// Sum of weights * nll, a scalar; weights [B, T] in the type of nll. The way to train: knowing
  /// the weights, the gradient of the output head is computed in the same pass as the loss.
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets,
                  const at::Tensor& weights) const;

  /// Both at once for callers that want logits of few positions: the last hidden states [B, T, C],
  /// in the compute type, after the final norm; project(hidden) gives their logits.
  at::Tensor hidden(const at::Tensor& tokens, const Pass& pass = {}) const;
  at::Tensor project(const at::Tensor& hidden) const;

  std::vector<Parameter>& parameters() { return parameters_; }
  const std::vector<Parameter>& parameters() const { return parameters_; }
  const Parameter& parameter(const std::string& name) const;
  /// Its value, whether held or read from a source.
  at::Tensor weight(const std::string& name) const;
  bool has_parameter(const std::string& name) const { return index_.contains(name); }
  /// alpha included.
  int64_t n_parameters() const;
  int64_t n_alpha() const;

  /// The same model with other positions: parameters are shared, not copied. For plans that depend
  /// on the length of the sequence at hand. throws c10::ValueError when the plan does not fit or is
  /// learned in another way. A cache filled under another plan is refused: its keys are rotated.
  Transformer with_plan(const position::PositionPlan& plan) const;

  const ModelConfig& config() const { return config_; }
  at::Device device() const { return device_; }
  const position::PositionPlan& plan() const { return plan_; }

  /// The frequencies in force, [N][G][P]: plan frequencies times exp(alpha).
  std::vector<std::vector<std::vector<double>>> current_inv_freq() const;

 private:
  ModelConfig config_;
  position::PositionPlan plan_;
  at::ScalarType dtype_, compute_dtype_;
  at::Device device_;
  std::shared_ptr<WeightSource> source_;  // null: parameters_ hold the values
  std::vector<Parameter> parameters_;
  std::unordered_map<std::string, size_t> index_;

  void name_parameters(const std::function<at::Tensor(const std::vector<int64_t>&)>& make);
  at::Tensor head() const;  // [V, C], master type
  at::Tensor capped_nll(const at::Tensor& hidden, const at::Tensor& targets) const;
};

}  // namespace gyre::model
