// Reports 43 and 44: an amplitude where the model wants none, and tables that an optimizer decays.
#include <ATen/ops/equal.h>
#include <ATen/ops/full_like.h>
#include <c10/core/GradMode.h>

#include "gyre/model/model_testing.h"
#include "gyre/train/optimizer.h"
#include "gyre/verify/cases/cases_testing.h"

namespace gyre::verify {
namespace {

using position::PositionPlan;

PositionPlan plan_for(const std::string& spec) {
  return sound_subject().plan(spec, request_of(64));
}

/// Factor on a logit against the same plan with amplitude 1, measured on rotated rows.
double logit_gain(const PositionPlan& plan) {
  const Turned raw{normal_rows("gain q", {1, 1, 3, 64}), normal_rows("gain k", {1, 1, 3, 64})};
  PositionPlan plain = plan;
  plain.layers[0].amplitude = 1.0;
  const auto positions = count_from(11, 3);
  const Turned with = rotated(sound_subject(), raw, positions, plan);
  const Turned without = rotated(sound_subject(), raw, positions, plain);
  return dots(with.q, with.k)[2][0] / dots(without.q, without.k)[2][0];
}

// Avarok-Cybersecurity/atlas#342: factor 16, attention factor 1.
TEST(Case43, AnExplicitFactorOfOneIsOne) {
  const PositionPlan plan = plan_for("yarn:factor=16,original=4096,attention_factor=1");
  EXPECT_EQ(plan.layers[0].amplitude, 1.0);
  EXPECT_EQ(logit_gain(plan), 1.0);
}

TEST(Case43, WithoutItTheFormulaHolds) {
  const PositionPlan plan = plan_for("yarn:factor=16,original=4096");
  EXPECT_TRUE(rounds_to(plan.layers[0].amplitude, "1.277258872"));
  EXPECT_TRUE(rounds_to(logit_gain(plan), "1.631390"));
}

TEST(Case43, OtherWaysToSayNone) {
  // DeepSeek: mscale and mscale_all_dim cancel; longrope with a factor; no extension at all.
  for (const char* spec :
       {"yarn:factor=40,original=4096,mscale=1,mscale_all_dim=1",
        "yarn:factor=40,original=4096,mscale=0.707,mscale_all_dim=0.707",
        "longrope:original=4096,max=131072,attention_factor=1", "yarn:factor=1,original=4096",
        "linear:factor=16", "llama3", "ntk:factor=16"}) {
    EXPECT_EQ(plan_for(spec).layers[0].amplitude, 1.0) << spec;
    EXPECT_EQ(logit_gain(plan_for(spec)), 1.0) << spec;
  }
}

TEST(Case43, FactorsDoNotChangeTheFrequencies) {
  const PositionPlan with = plan_for("yarn:factor=16,original=4096,attention_factor=1");
  EXPECT_EQ(bands_of(with), bands_of(plan_for("yarn:factor=16,original=4096")));
  EXPECT_EQ(bands_of(with), bands_of(plan_for("yarn:factor=16,original=4096,mscale=0.5,"
                                              "mscale_all_dim=1")));
}

train::TrainOptions decaying() {
  train::TrainOptions options;
  options.lr = 0.01;
  options.decay = 0.5;
  options.decay_embedding = true;  // everything that may decay does
  options.clip = 0.0;
  return options;
}

model::Transformer model_with(const std::string& scheme) {
  return model::make_model(model::small_config(), scheme);
}

void step(model::Transformer& model, double alpha_gradient) {
  train::Optimizer optimizer(model, decaying());
  for (model::Parameter& each : model.parameters()) {
    const bool is_alpha = each.group == model::ParamGroup::Alpha;
    each.value.mutable_grad() = at::full_like(each.value.detach(), is_alpha ? alpha_gradient : 1.0);
  }
  optimizer.step(1.0);
}

// marin-community/levanter#504: one step with weight decay.
TEST(Case44, FixedTablesAreUnchanged) {
  for (const char* scheme : {"rope", "prope:p=0.5", "yarn:factor=4", "xpos"}) {
    model::Transformer model = model_with(scheme);
    const auto plan = model.plan();
    const auto before = model.current_inv_freq();
    const at::Tensor matrix = model.parameter("blocks.0.attention.qkv.weight").value;
    const at::Tensor weights = matrix.detach().clone();
    step(model, 0.0);
    EXPECT_EQ(model.current_inv_freq(), before) << scheme;
    EXPECT_EQ(model.plan(), plan) << scheme;
    EXPECT_FALSE(at::equal(matrix, weights)) << scheme;  // the step did something
  }
}

TEST(Case44, NoTableIsAmongTheParameters) {
  // What is stepped is what it was without positions: the same names, the same counts.
  const model::Transformer unrotated = model_with("nope");
  for (const char* scheme : {"rope", "alibi", "yarn:factor=4", "longrope:max=64"}) {
    const model::Transformer model = model_with(scheme);
    ASSERT_EQ(model.parameters().size(), unrotated.parameters().size()) << scheme;
    EXPECT_EQ(model.n_parameters(), unrotated.n_parameters()) << scheme;
  }
}

TEST(Case44, ALearnedTableIsLeftOutOfTheDecay) {
  for (const char* scheme : {"lerope", "lerope:share=layer", "lerope:share=head"}) {
    model::Transformer model = model_with(scheme);
    at::Tensor alpha = model.parameter("alpha").value;
    {
      const c10::NoGradGuard no_grad;
      alpha.fill_(0.75);
    }
    const auto before = model.current_inv_freq();
    step(model, 0.0);  // no gradient: only a decay could move it
    EXPECT_EQ(model.current_inv_freq(), before) << scheme;
    EXPECT_EQ(alpha.min().item<float>(), 0.75F) << scheme;
    EXPECT_EQ(alpha.max().item<float>(), 0.75F) << scheme;
  }
}

TEST(Case44, AndMovesByItsOwnRateAlone) {
  // Adam's first step is the rate, whatever the gradient; with decay it would be 0.005 (1 +
  // 0.75/2).
  model::Transformer model = model_with("lerope:lr=0.005");
  at::Tensor alpha = model.parameter("alpha").value;
  {
    const c10::NoGradGuard no_grad;
    alpha.fill_(0.75);
  }
  step(model, 2.0);
  EXPECT_NEAR(alpha.min().item<double>(), 0.745, 1e-6);
  EXPECT_NEAR(alpha.max().item<double>(), 0.745, 1e-6);
  const double expected = std::exp(0.745) * std::pow(1e4, -0.25);
  EXPECT_NEAR(model.current_inv_freq()[0][0][1], expected, 1e-6);
}

}  // namespace
}  // namespace gyre::verify
