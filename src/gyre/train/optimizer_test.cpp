// AdamW by hand, the groups, both clips, and accumulation against the unsplit batch.
#include "gyre/train/optimizer.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/full_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <map>

#include "gyre/model/model_testing.h"
#include "gyre/train/train_step.h"

namespace gyre::train {
namespace {

using model::make_model;
using model::max_difference;
using model::small_config;

TrainOptions options_with(double decay, double clip) {
  TrainOptions options;
  options.lr = 0.01;
  options.decay = decay;
  options.clip = clip;
  return options;
}

void fill_gradients(model::Transformer& model, double rest, double alpha) {
  for (model::Parameter& each : model.parameters()) {
    const bool is_alpha = each.group == model::ParamGroup::Alpha;
    each.value.mutable_grad() = at::full_like(each.value.detach(), is_alpha ? alpha : rest);
  }
}

std::map<std::string, at::Tensor> copy_of(const model::Transformer& model) {
  std::map<std::string, at::Tensor> out;
  for (const model::Parameter& each : model.parameters()) {
    out[each.name] = each.value.detach().clone();
  }
  return out;
}

TEST(AdamW, FirstStepMovesByTheLearningRate) {
  // Step 1: m^ = g, v^ = g^2, so every entry moves by lr * sign(g) (Kingma & Ba 2015, alg. 1).
  model::Transformer model = make_model(small_config(), "lerope");
  Optimizer optimizer(model, options_with(0.0, 0.0));
  const auto before = copy_of(model);
  fill_gradients(model, 0.5, -2.0);
  optimizer.step(1.0);
  for (const model::Parameter& each : model.parameters()) {
    const bool is_alpha = each.group == model::ParamGroup::Alpha;
    const double moved = is_alpha ? model.plan().learning.lr : -0.01;
    EXPECT_LE(max_difference(each.value, before.at(each.name) + moved), 1e-6) << each.name;
    EXPECT_FALSE(each.value.grad().defined());
  }
}

TEST(AdamW, DecaysMatricesOnly) {
  model::Transformer model = make_model(small_config(), "lerope");
  {
    const c10::NoGradGuard no_grad;
    at::Tensor alpha = model.parameter("alpha").value;
    alpha.fill_(0.25);
  }
  Optimizer optimizer(model, options_with(0.5, 0.0));
  const auto before = copy_of(model);
  fill_gradients(model, 0.0, 0.0);
  optimizer.step(1.0);
  for (const model::Parameter& each : model.parameters()) {
    const bool decayed = each.group == model::ParamGroup::Matrix;
    const double factor = decayed ? 1.0 - 0.01 * 0.5 : 1.0;  // decoupled: w (1 - lr decay)
    EXPECT_LE(max_difference(each.value, before.at(each.name) * factor), 1e-7) << each.name;
    EXPECT_EQ(at::equal(each.value, before.at(each.name)), !decayed) << each.name;
  }
}

TEST(Clip, OfTheRestDoesNotSeeAlpha) {
  const auto moved = [](double alpha_gradient) {
    model::Transformer model = make_model(small_config(), "lerope");
    Optimizer optimizer(model, options_with(0.0, 1.0));
    fill_gradients(model, 0.5, alpha_gradient);
    const StepNorms norms = optimizer.step(1.0);
    const auto state = optimizer.state();
    double rest = 0.0, alpha = 0.0;  // first moment after one step = (1 - beta1) * clipped gradient
    for (const auto& [name, value] : state) {
      if (name.starts_with("m.")) {
        const double square = value.square().sum().item<double>() / (0.1 * 0.1);
        (name == "m.alpha" ? alpha : rest) += square;
      }
    }
    return std::tuple(norms, std::sqrt(rest), std::sqrt(alpha));
  };
  const auto [small_norms, small_rest, small_alpha] = moved(1e-3);
  const auto [large_norms, large_rest, large_alpha] = moved(1e6);
  EXPECT_EQ(small_norms.grad, large_norms.grad);
  EXPECT_EQ(small_rest, large_rest);
  EXPECT_NEAR(small_rest, 1.0, 1e-4);
  EXPECT_NEAR(small_alpha, 1e-3 * std::sqrt(4.0), 1e-8);  // below its own clip of 1
  EXPECT_NEAR(large_alpha, 1.0, 1e-4);
  EXPECT_NEAR(large_norms.alpha, 2e6, 1.0);
}

TEST(Optimizer, ChangesNothingOnANonFiniteGradient) {
  model::Transformer model = make_model(small_config(), "rope");
  Optimizer optimizer(model, options_with(0.1, 1.0));
  const auto before = copy_of(model);
  fill_gradients(model, std::nan(""), 0.0);
  EXPECT_FALSE(std::isfinite(optimizer.step(1.0).grad));
  for (const model::Parameter& each : model.parameters()) {
    EXPECT_TRUE(at::equal(each.value, before.at(each.name))) << each.name;
  }
  EXPECT_EQ(optimizer.n_updates(), 0);
}

TEST(Accumulation, GivesTheUnsplitGradient) {
  const at::Tensor tokens = model::random_tokens(8, 13, 19, 3);
  const data::Batch batch{tokens.narrow(1, 0, 12), tokens.narrow(1, 1, 12)};
  const model::Transformer whole = make_model(small_config(), "lerope");
  const double loss = accumulate_gradient(whole, batch, 1);
  for (const int64_t parts : {2, 4, 8}) {
    const model::Transformer split = make_model(small_config(), "lerope");
    EXPECT_NEAR(accumulate_gradient(split, batch, parts), loss, 1e-6);
    for (const model::Parameter& each : whole.parameters()) {
      EXPECT_LE(max_difference(split.parameter(each.name).value.grad(), each.value.grad()), 1e-6)
          << parts << " " << each.name;
    }
  }
}

}  // namespace
}  // namespace gyre::train
