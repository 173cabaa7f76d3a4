#include "gyre/train/optimizer.h"

#include <ATen/ops/_fused_adamw.h>
#include <ATen/ops/full.h>
#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <optional>

namespace gyre::train {
namespace {

constexpr double kEpsilon = 1e-8;

double norm_of(const std::vector<at::Tensor>& gradients) {
  std::vector<at::Tensor> norms;
  for (const at::Tensor& each : gradients) {
    norms.push_back(at::linalg_vector_norm(each));
  }
  if (norms.empty()) {
    return 0.0;
  }
  const at::Tensor all = at::stack(norms).to(at::kCPU, at::kDouble);  // a device is read once
  double sum = 0.0;
  for (int64_t i = 0; i < all.size(0); ++i) {
    const double norm = all.const_data_ptr<double>()[i];
    sum += norm * norm;
  }
  return std::sqrt(sum);
}

/// What the update divides gradients by so that their norm is at most `largest`; none = 1. Inside
/// the update it costs no pass over the gradients.
std::optional<at::Tensor> divisor(double norm, double largest, at::Device device) {
  if (largest > 0.0 && norm > largest) {
    return at::full({}, norm / largest, at::TensorOptions(device).dtype(at::kFloat));
  }
  return std::nullopt;
}

}  // namespace

Optimizer::Optimizer(model::Transformer& model, const TrainOptions& options)
    : beta1_(options.beta1), beta2_(options.beta2) {
  matrices_.lr = others_.lr = options.lr;
  matrices_.clip = others_.clip = options.clip;
  matrices_.decay = options.decay;
  alpha_.lr = model.plan().learning.lr;
  alpha_.clip = model.plan().learning.clip;
  for (const model::Parameter& each : model.parameters()) {
    const bool decayed = each.group == model::ParamGroup::Matrix ||
                         (each.group == model::ParamGroup::Embedding && options.decay_embedding);
    Group& group = each.group == model::ParamGroup::Alpha ? alpha_ : decayed ? matrices_ : others_;
    group.names.push_back(each.name);
    group.values.push_back(each.value);
    group.first.push_back(at::zeros_like(each.value.detach()));
    group.second.push_back(at::zeros_like(each.value.detach()));
  }
}

std::vector<at::Tensor> Optimizer::gradients(const Group& group) const {
  std::vector<at::Tensor> out;
  for (const at::Tensor& value : group.values) {
    if (!value.grad().defined()) {  // a parameter the loss does not depend on
      at::Tensor handle = value;
      handle.mutable_grad() = at::zeros_like(value.detach());
    }
    out.push_back(value.grad());
  }
  return out;
}

StepNorms Optimizer::step(double share) {
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> all = gradients(matrices_);
  const std::vector<at::Tensor> rest = gradients(others_), alpha = gradients(alpha_);
  all.insert(all.end(), rest.begin(), rest.end());
  const StepNorms norms{norm_of(all), norm_of(alpha)};
  if (std::isfinite(norms.grad) && std::isfinite(norms.alpha)) {
    ++n_updates_;
    update(matrices_, share, norms.grad);
    update(others_, share, norms.grad);
    update(alpha_, share, norms.alpha);
  }
  for (Group* group : {&matrices_, &others_, &alpha_}) {
    for (at::Tensor& value : group->values) {
      value.mutable_grad() = at::Tensor();
    }
  }
  return norms;
}

void Optimizer::update(Group& group, double share, double norm) {
  if (group.values.empty()) {
    return;
  }
  const at::Tensor count = at::full({}, static_cast<double>(n_updates_),
                                    group.values.front().options().dtype(at::kFloat));
  const std::vector<at::Tensor> counts(group.values.size(), count);
  at::_fused_adamw_(group.values, gradients(group), group.first, group.second, {}, counts,
                    group.lr * share, beta1_, beta2_, group.decay, kEpsilon, false, false,
                    divisor(norm, group.clip, group.values.front().device()));
}

std::vector<std::pair<std::string, at::Tensor>> Optimizer::state() const {
  std::vector<std::pair<std::string, at::Tensor>> out;
  for (const Group* group : {&matrices_, &others_, &alpha_}) {
    for (size_t i = 0; i < group->names.size(); ++i) {
      out.emplace_back("m." + group->names[i], group->first[i]);
      out.emplace_back("v." + group->names[i], group->second[i]);
    }
  }
  return out;
}

}  // namespace gyre::train
