// Models that are only run: parameters through a source, resident or a block at a time.
#include "gyre/model/weights.h"

#include <ATen/ops/log_softmax.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include "gyre/base/error.h"
#include "gyre/model/model_testing.h"

namespace gyre::model {
namespace {

// A trained model's parameters in another type; counts what is read.
class Parameters : public WeightSource {
 public:
  Parameters(const Transformer& model, at::ScalarType dtype) : model_(model), dtype_(dtype) {}
  at::ScalarType dtype() const override { return dtype_; }
  at::Tensor load(const std::string& name) override {
    ++reads;
    const Parameter& parameter = model_.parameter(name);
    const bool narrow = parameter.group == ParamGroup::Norm && dtype_ == at::kBFloat16;
    return parameter.value.detach().to(narrow ? at::kFloat : dtype_);
  }
  int reads = 0;

 private:
  const Transformer& model_;
  at::ScalarType dtype_;
};

ModelConfig gemma_like() {
  ModelConfig config = small_config();
  config.post_norm = true;
  config.qk_norm = true;
  config.qkv_bias = true;
  config.embedding_scale = 3.0;
  config.logit_cap = 2.0;
  return config;
}

TEST(Weights, AModelOfASourceEqualsTheModelItReads) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(gemma_like(), "rope", "window:4/full");
  const at::Tensor tokens = random_tokens(2, 9, 19, 3);
  Parameters source(model, at::kFloat);
  const auto resident = std::make_shared<ResidentWeights>(source, model.config());
  const Transformer run(model.config(), model.plan(), resident);
  EXPECT_TRUE(at::equal(run.forward(tokens), model.forward(tokens)));
  EXPECT_EQ(run.n_parameters(), model.n_parameters());
}

TEST(Weights, AStreamedModelReadsEachBlockOncePerPass) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(gemma_like(), "rope");
  const at::Tensor tokens = random_tokens(1, 7, 19, 4);
  const auto source = std::make_shared<Parameters>(model, at::kFloat);
  const Transformer run(model.config(), model.plan(), std::make_shared<StreamedWeights>(source));
  EXPECT_TRUE(at::equal(run.forward(tokens), model.forward(tokens)));
  const auto n = static_cast<int>(model.parameters().size());
  EXPECT_EQ(source->reads, n + 1);  // the tied embedding is the head, too
}

TEST(Weights, Bfloat16WeightsGiveNearlyTheSameLogits) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(gemma_like(), "rope");
  const at::Tensor tokens = random_tokens(1, 7, 19, 4);
  const auto source = std::make_shared<Parameters>(model, at::kBFloat16);
  const Transformer run(model.config(), model.plan(), source);
  EXPECT_EQ(run.compute_dtype(), at::kBFloat16);
  const double difference = max_difference(run.forward(tokens), model.forward(tokens));
  EXPECT_LT(difference, 0.05);
  EXPECT_GT(difference, 0.0);
}

TEST(Weights, AShapeThatDoesNotFitIsNamed) {
  class Wrong : public WeightSource {
    at::ScalarType dtype() const override { return at::kFloat; }
    at::Tensor load(const std::string& /*name*/) override { return at::zeros({3}); }
  } source;
  try {
    const ResidentWeights weights(source, small_config());
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("'embedding.weight' is [3]"), std::string::npos)
        << error.what();
  }
}

TEST(Config, CapsBoundTheLogits) {
  const c10::NoGradGuard no_grad;
  ModelConfig config = small_config();
  const Transformer plain = make_model(config, "rope");
  config.logit_cap = 0.01;
  const Transformer capped = make_model(config, "rope");
  const at::Tensor tokens = random_tokens(1, 7, 19, 4);
  const at::Tensor expected = (plain.forward(tokens) / 0.01).tanh() * 0.01;
  EXPECT_LE(max_difference(capped.forward(tokens), expected), 1e-7);
  const at::Tensor targets = random_tokens(1, 7, 19, 5);
  const at::Tensor nll = -expected.log_softmax(-1).gather(-1, targets.unsqueeze(-1)).squeeze(-1);
  EXPECT_LE(max_difference(capped.nll(tokens, targets), nll), 1e-6);
  EXPECT_LE(max_difference(capped.loss(tokens, targets, at::ones({1, 7})), nll.sum()), 1e-5);
}

TEST(Config, EachOptionChangesTheLogits) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(1, 7, 19, 4);
  const at::Tensor plain = make_model(small_config(), "rope").forward(tokens);
  ModelConfig config = small_config();
  config.post_norm = true;
  EXPECT_GT(max_difference(make_model(config, "rope").forward(tokens), plain), 1e-4);
  config = small_config();
  config.embedding_scale = 2.0;
  EXPECT_GT(max_difference(make_model(config, "rope").forward(tokens), plain), 1e-4);
  config = small_config();
  config.qkv_bias = true;
  Transformer biased = make_model(config, "rope");
  EXPECT_TRUE(biased.has_parameter("blocks.0.attention.qkv.bias"));
  EXPECT_FALSE(biased.has_parameter("blocks.0.attention.out.bias"));
  at::Tensor bias = biased.parameter("blocks.0.attention.qkv.bias").value;
  bias.fill_(0.5);
  EXPECT_GT(max_difference(biased.forward(tokens), plain), 1e-4);
}

}  // namespace
}  // namespace gyre::model
