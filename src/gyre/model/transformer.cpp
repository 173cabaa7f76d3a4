#include "gyre/model/transformer.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tanh.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "gyre/base/error.h"
#include "gyre/base/rng.h"
#include "gyre/model/forward_pass.h"
#include "gyre/model/linear.h"
#include "gyre/model/loss.h"
#include "gyre/model/shapes.h"

namespace gyre::model {
namespace {

void check_plan(const ModelConfig& config, const position::PositionPlan& plan) {
  TORCH_CHECK_VALUE(static_cast<int64_t>(plan.layers.size()) == config.layers,
                    "transformer: the position plan has ", plan.layers.size(),
                    " layers, the model ", config.layers);
  TORCH_CHECK_VALUE(plan.head_dim == config.head_dim,
                    "transformer: the position plan has head dim ", plan.head_dim, ", the model ",
                    config.head_dim);
  for (const position::LayerPlan& layer : plan.layers) {
    TORCH_CHECK_VALUE(
        layer.inv_freq.empty() || plan.layout != position::PairLayout::Unstated,
        "transformer: the pair layout is not stated; say --layout halves or --layout interleaved");
    const auto groups = static_cast<int64_t>(layer.inv_freq.size());
    TORCH_CHECK_VALUE(groups <= 1 || groups == config.n_kv_heads(), "transformer: the plan has ",
                      groups, " frequency groups, expected 1 or ", config.n_kv_heads());
    TORCH_CHECK_VALUE(
        layer.decay.empty() || (groups > 0 && layer.decay.size() == layer.inv_freq.front().size()),
        "transformer: the plan has ", layer.decay.size(),
        " decays in a layer, expected one per pair");
    const auto n_slopes = static_cast<int64_t>(layer.slopes.size());
    TORCH_CHECK_VALUE(n_slopes == 0 || n_slopes == config.heads, "transformer: the plan has ",
                      n_slopes, " slopes, expected ", config.heads);
  }
}

void check_targets(const at::Tensor& tokens, const at::Tensor& targets) {
  TORCH_CHECK_VALUE(targets.sizes() == tokens.sizes(), "transformer: targets ", targets.sizes(),
                    " do not match tokens ", tokens.sizes());
}

// A cache keeps rotated keys: past the length at which the table changes they would be of the old
// table and the queries of none that is right.
void check_cache(const position::PositionPlan& plan, const KvCache& cache, int64_t n_new) {
  const int64_t length = cache.length() + n_new;
  TORCH_CHECK_VALUE(plan.holds_to == 0 || length <= plan.holds_to, "transformer: ", n_new,
                    " tokens after the ", cache.length(), " in the cache make ", length,
                    ", the plan's tables hold up to ", plan.holds_to,
                    "; make the plan of the longer sequence and run it all anew (",
                    plan.length_rule, ")");
  for (const position::LayerPlan& layer : plan.layers) {
    const bool counts =
        layer.mask.chunk > 0 || layer.mask.n_global > 0 || layer.query_growth != 0.0;
    TORCH_CHECK_VALUE(!counts || !cache.padded(),
                      "transformer: a layer counts positions from the start of the sequence "
                      "(chunks, global tokens or growing queries), rows of a batch cannot be "
                      "padded; run them one by one");
  }
}

}  // namespace

Transformer::Transformer(const ModelConfig& config, const position::PositionPlan& plan,
                         at::Device device, at::ScalarType dtype)
    : config_(config), plan_(plan), dtype_(dtype), compute_dtype_(dtype), device_(device) {
  TORCH_CHECK_VALUE(dtype == at::kFloat || dtype == at::kDouble,
                    "transformer: master weights are float32 or float64, got ", dtype);
  check_plan(config, plan);
  name_parameters([&](const std::vector<int64_t>& sizes) {
    at::Tensor value = at::empty(sizes, at::TensorOptions().device(device).dtype(dtype));
    value.set_requires_grad(true);
    return value;
  });
}

Transformer::Transformer(const ModelConfig& config, const position::PositionPlan& plan,
                         std::shared_ptr<WeightSource> weights)
    : config_(config),
      plan_(plan),
      dtype_(weights->dtype() == at::kDouble ? at::kDouble : at::kFloat),
      compute_dtype_(weights->dtype()),
      device_(weights->device()),
      source_(std::move(weights)) {
  check_plan(config, plan);
  TORCH_CHECK_VALUE(plan.learning.sharing == position::Sharing::None,
                    "transformer: a model that is only run has fixed frequencies, the plan learns "
                    "them");
  name_parameters([](const auto&) { return at::Tensor(); });
}

void Transformer::name_parameters(
    const std::function<at::Tensor(const std::vector<int64_t>&)>& make) {
  const auto add = [&](const std::string& name, const std::vector<int64_t>& sizes,
                       ParamGroup group) {
    index_[name] = parameters_.size();
    parameters_.push_back({name, make(sizes), group});
  };
  for (const ParameterShape& shape : parameter_shapes(config_)) {
    add(shape.name, shape.sizes, shape.group);
  }
  if (plan_.learning.sharing != position::Sharing::None) {
    add("alpha", alpha_sizes(config_, plan_), ParamGroup::Alpha);
  }
}

Tap Capture::tap() {
  return [this](int64_t n, at::Tensor& layer_q, at::Tensor& layer_k, at::Tensor& /*v*/) {
    if (n == 0) {
      *this = {};
    }
    q.push_back(layer_q);
    k.push_back(layer_k);
  };
}

at::Tensor Transformer::weight(const std::string& name) const {
  return source_ == nullptr ? parameter(name).value : source_->load(name);
}

void Transformer::init(uint64_t seed) {
  TORCH_CHECK_VALUE(source_ == nullptr, "transformer: a model that is only run is not initialised");
  const c10::NoGradGuard no_grad;
  for (const ParameterShape& shape : parameter_shapes(config_)) {
    at::Tensor value = parameter(shape.name).value;
    if (shape.init_std == 0.0) {
      value.fill_(shape.init_mean);
      continue;
    }
    // Drawn in float on the CPU, whatever the model's type and device: a double twin starts equal.
    at::Tensor draw = at::empty(shape.sizes, at::kFloat);
    draw.normal_(shape.init_mean, shape.init_std,
                 at::make_generator<at::CPUGeneratorImpl>(derive_seed(seed, "init/" + shape.name)));
    value.copy_(draw);
  }
  if (has_parameter("alpha")) {
    at::Tensor alpha = parameter("alpha").value;
    alpha.zero_();
  }
}

void Transformer::set_compute_dtype(at::ScalarType dtype) {
  TORCH_CHECK_VALUE(source_ == nullptr || dtype == compute_dtype_, "transformer: its weights are ",
                    compute_dtype_, ", it cannot compute in ", dtype, "; load them in that type");
  const bool fits = source_ != nullptr || dtype_ == at::kDouble
                        ? dtype == at::kDouble
                        : dtype == at::kFloat || dtype == at::kBFloat16;
  TORCH_CHECK_VALUE(fits, "transformer: a ", dtype_, " model cannot compute in ", dtype);
  compute_dtype_ = dtype;
}

const Parameter& Transformer::parameter(const std::string& name) const {
  const auto found = index_.find(name);
  TORCH_CHECK_VALUE(found != index_.end(), "transformer: no parameter '", name, "'");
  return parameters_[found->second];
}

Transformer Transformer::with_plan(const position::PositionPlan& plan) const {
  check_plan(config_, plan);
  TORCH_CHECK_VALUE(plan.learning == plan_.learning && plan.n_pairs() == plan_.n_pairs(),
                    "transformer: the other plan has ", plan.n_pairs(),
                    " pairs or learns them in another way; the model was made for ",
                    plan_.n_pairs());
  Transformer other = *this;
  other.plan_ = plan;
  return other;
}

int64_t Transformer::n_parameters() const {
  return count_parameters(config_) + n_alpha();
}

int64_t Transformer::n_alpha() const {
  return has_parameter("alpha") ? parameter("alpha").value.numel() : 0;
}

at::Tensor Transformer::head() const {
  return weight(config_.tied ? "embedding.weight" : "head.weight");
}

at::Tensor Transformer::hidden(const at::Tensor& tokens, const Pass& pass) const {
  TORCH_CHECK_VALUE(tokens.dim() == 2 && tokens.scalar_type() == at::kLong,
                    "transformer: tokens must be [B, T] int64, got ", tokens.sizes(), " ",
                    tokens.scalar_type());
  const int64_t wanted = pass.wanted_rows.value_or(0);
  TORCH_CHECK_VALUE(wanted >= 0 && wanted <= tokens.size(1), "transformer: ", wanted,
                    " rows are wanted of ", tokens.size(1), " tokens; give 0 to ", tokens.size(1));
  if (pass.cache != nullptr) {
    TORCH_CHECK_VALUE(!pass.first_key.defined(),
                      "transformer: first_key is for a pass without a "
                      "cache; tell the cache the padding of its rows");
    check_cache(plan_, *pass.cache, tokens.size(1));
    pass.cache->use_plan(plan_.layers);
  }
  return ForwardPass(*this, tokens, pass).run();
}

at::Tensor Transformer::project(const at::Tensor& hidden_states) const {
  const at::Tensor logits = linear(hidden_states, {head(), {}}).to(dtype_);
  return config_.logit_cap == 0.0 ? logits
                                  : at::tanh(logits / config_.logit_cap) * config_.logit_cap;
}

at::Tensor Transformer::forward(const at::Tensor& tokens, const Pass& pass) const {
  return project(hidden(tokens, pass));
}

// The plain way, with logits of all tokens at once: the fused loss knows no cap.
at::Tensor Transformer::capped_nll(const at::Tensor& hidden_states,
                                   const at::Tensor& targets) const {
  const at::Tensor log_probabilities = at::log_softmax(project(hidden_states), -1);
  return -log_probabilities.gather(-1, targets.unsqueeze(-1)).squeeze(-1);
}

at::Tensor Transformer::nll(const at::Tensor& tokens, const at::Tensor& targets) const {
  check_targets(tokens, targets);
  if (config_.logit_cap != 0.0) {
    return capped_nll(hidden(tokens), targets);
  }
  const at::Tensor x_MC = hidden(tokens).flatten(0, 1);
  return linear_nll(x_MC, head(), targets.flatten()).view(tokens.sizes());
}

at::Tensor Transformer::loss(const at::Tensor& tokens, const at::Tensor& targets,
                             const at::Tensor& weights) const {
  check_targets(tokens, targets);
  TORCH_CHECK_VALUE(weights.sizes() == tokens.sizes(), "transformer: weights ", weights.sizes(),
                    " do not match tokens ", tokens.sizes());
  if (config_.logit_cap != 0.0) {
    return (capped_nll(hidden(tokens), targets) * weights).sum();
  }
  const at::Tensor x_MC = hidden(tokens).flatten(0, 1);
  return linear_loss(x_MC, head(), targets.flatten(), weights.flatten());
}

std::vector<std::vector<std::vector<double>>> Transformer::current_inv_freq() const {
  const c10::NoGradGuard no_grad;
  std::vector<std::vector<std::vector<double>>> out;
  const bool learned = has_parameter("alpha");
  TORCH_CHECK_VALUE(!learned || !parameter("alpha").value.is_meta(),
                    "transformer: learned frequencies were asked of a model of shapes alone; build "
                    "it on the cpu");
  for (int64_t n = 0; n < config_.layers; ++n) {
    auto& groups = out.emplace_back();
    if (!learned) {  // never through a tensor: a model of shapes alone has its table too
      const auto& plain = plan_.layers[static_cast<size_t>(n)].inv_freq;
      groups =
          plain.empty() || plain.front().empty() ? decltype(plan_.layers[0].inv_freq)() : plain;
      continue;
    }
    at::Tensor theta = layer_theta(*this, n);
    theta = theta.defined() ? theta.cpu() : theta;
    for (int64_t g = 0; theta.defined() && g < theta.size(0); ++g) {
      const at::Tensor row = theta[g].contiguous();
      groups.emplace_back(row.const_data_ptr<double>(), row.const_data_ptr<double>() + row.numel());
    }
  }
  return out;
}

}  // namespace gyre::model
