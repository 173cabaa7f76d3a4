// The model's identities: equal starts, scheme limits, continuation from a cache, gradients.
#include "gyre/model/transformer.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <functional>

#include "gyre/base/error.h"
#include "gyre/model/loss.h"
#include "gyre/model/model_testing.h"

namespace gyre::model {
namespace {

TEST(FirstStep, LearnedFrequenciesEqualFixedOnesBitForBit) {
  for (const char* share : {"lerope", "lerope:share=layer", "lerope:share=head"}) {
    const Transformer fixed = make_model(small_config(), "rope");
    const Transformer learned = make_model(small_config(), share);
    const at::Tensor a = loss_of(fixed), b = loss_of(learned);
    EXPECT_EQ(a.item<float>(), b.item<float>()) << share;
    a.backward();
    b.backward();
    for (const Parameter& each : fixed.parameters()) {
      EXPECT_TRUE(at::equal(each.value.grad(), learned.parameter(each.name).value.grad()))
          << share << " " << each.name;
    }
    EXPECT_GT(learned.parameter("alpha").value.grad().abs().max().item<float>(), 0.0F) << share;
  }
}

TEST(Limits, NoRotatedPairEqualsNoPositionsBitForBit) {
  const at::Tensor tokens = random_tokens(2, 9, 19, 1);
  const at::Tensor none = make_model(small_config(), "nope").forward(tokens);
  EXPECT_TRUE(at::equal(make_model(small_config(), "prope:p=0").forward(tokens), none));
  const at::Tensor all = make_model(small_config(), "rope").forward(tokens);
  EXPECT_TRUE(at::equal(make_model(small_config(), "prope:p=1").forward(tokens), all));
  EXPECT_GT(max_difference(all, none), 1e-3);  // the comparison above could have failed
}

TEST(Init, DependsOnSeedAndNameOnly) {
  ModelConfig wide = small_config();
  wide.vocab = 23;  // another embedding; every other shape agrees
  const Transformer a = make_model(small_config(), "rope"), b = make_model(wide, "alibi");
  for (const Parameter& each : a.parameters()) {
    if (each.name != "embedding.weight") {
      EXPECT_TRUE(at::equal(each.value, b.parameter(each.name).value)) << each.name;
    }
  }
  Transformer other = make_model(small_config(), "rope");
  other.init(8);
  EXPECT_FALSE(at::equal(a.parameter("blocks.0.attention.qkv.weight").value,
                         other.parameter("blocks.0.attention.qkv.weight").value));
}

TEST(Init, ResidualOutputsAreScaledByDepth) {
  ModelConfig config = small_config();
  config.width = 256;
  config.hidden = 256;
  config.init_std = 0.02;
  const Transformer model = make_model(config, "rope");
  const auto spread = [&](const char* name) {
    return model.parameter(name).value.std().item<double>();
  };
  EXPECT_NEAR(spread("blocks.0.mlp.gate_up.weight"), 0.02, 0.0005);
  EXPECT_NEAR(spread("blocks.0.mlp.down.weight"), 0.02 / 2.0, 0.0005);  // sqrt(2 N) = 2
  config.init_std = 0.0;                                                // 1 / sqrt(fan in) = 1/16
  const Transformer scaled = make_model(config, "rope");
  EXPECT_NEAR(scaled.parameter("blocks.0.mlp.gate_up.weight").value.std().item<double>(),
              1.0 / 16.0, 0.001);
}

/// Every registered scheme that needs no file, with its spec.
std::vector<std::string> usable_schemes() {
  std::vector<std::string> out;
  for (const position::SchemeInfo& info : position::schemes()) {
    try {
      position::make_plan(info.name, "full", plan_request(small_config(), 16));
      out.push_back(info.name);
    } catch (const Error&) {  // one that reads another run; tested with its own file
    }
  }
  EXPECT_GE(out.size(), 6U);
  return out;
}

const std::vector<std::string>& masks() {
  static const std::vector<std::string> list = {
      "full", "window:4", "dilated:3x2", "window:3+global:2", "window:4/full", "chunk:5"};
  return list;
}

TEST(EveryScheme, HasAFiniteLossAndGradient) {
  for (const std::string& scheme : usable_schemes()) {
    for (const std::string& mask : masks()) {
      const Transformer model = make_model(small_config(), scheme, mask);
      const at::Tensor loss = loss_of(model);
      loss.backward();
      EXPECT_TRUE(std::isfinite(loss.item<double>())) << scheme << " " << mask;
      for (const Parameter& each : model.parameters()) {
        ASSERT_TRUE(each.value.grad().defined()) << each.name;
        EXPECT_TRUE(std::isfinite(each.value.grad().abs().sum().item<double>()))
            << scheme << " " << mask << " " << each.name;
      }
    }
  }
}

at::Tensor in_chunks(const Transformer& model, const at::Tensor& tokens, int64_t size) {
  KvCache cache(model.config().layers);
  std::vector<at::Tensor> parts;
  for (int64_t t = 0; t < tokens.size(1); t += size) {
    const int64_t n = std::min(size, tokens.size(1) - t);
    parts.push_back(model.forward(tokens.narrow(1, t, n), {&cache}));
  }
  return at::cat(parts, 1);
}

TEST(EveryScheme, ContinuesFromACache) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 13, 19, 5);
  for (const std::string& scheme : usable_schemes()) {
    for (const std::string& mask : masks()) {
      const Transformer model = make_model(small_config(), scheme, mask);
      const at::Tensor whole = model.forward(tokens);
      EXPECT_LE(max_difference(in_chunks(model, tokens, 5), whole), 1e-4) << scheme << " " << mask;
      EXPECT_LE(max_difference(in_chunks(model, tokens, 1), whole), 1e-4) << scheme << " " << mask;
    }
  }
}

TEST(WithPlan, SharesTheWeightsUnderOtherPositions) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(1, 9, 19, 6);
  const Transformer model = make_model(small_config(), "rope");
  const Transformer faster = make_model(small_config(), "rope:base=50");
  const Transformer other = model.with_plan(faster.plan());
  EXPECT_EQ(max_difference(other.forward(tokens), faster.forward(tokens)), 0.0);
  EXPECT_GT(max_difference(other.forward(tokens), model.forward(tokens)), 0.0);
  EXPECT_TRUE(other.parameter("norm.weight").value.is_same(model.parameter("norm.weight").value));
  try {
    model.with_plan(make_model(small_config(), "lerope").plan());
    FAIL() << "no error";
  } catch (const c10::ValueError& e) {
    EXPECT_NE(std::string(e.what_without_backtrace()).find("learns them in another way"),
              std::string::npos);
  }
}

TEST(Alpha, GradientIsTheCentralDifference) {
  for (const char* scheme : {"lerope", "lerope:share=layer", "lerope:share=head"}) {
    const Transformer model = make_model(small_config(), scheme, "full", at::kDouble);
    loss_of(model).backward();
    const at::Tensor alpha = model.parameter("alpha").value;
    const at::Tensor gradient = alpha.grad().flatten();
    const c10::NoGradGuard no_grad;
    constexpr double kStep = 1e-4;
    for (int64_t i = 0; i < alpha.numel(); ++i) {
      const at::Tensor entry = alpha.view({-1})[i];
      const auto at = [&](double offset) {
        entry.add_(offset);
        const double loss = loss_of(model).item<double>();
        entry.sub_(offset);
        return loss;
      };
      // Five points: the error is step^4 / 30 times the fifth derivative and 1e-16 / step.
      const double difference =
          (8 * (at(kStep) - at(-kStep)) - (at(2 * kStep) - at(-2 * kStep))) / (12 * kStep);
      EXPECT_NEAR(gradient[i].item<double>(), difference, 1e-10) << scheme << " " << i;
    }
  }
}

TEST(Variants, AllRunInBothComputeTypes) {
  for (const Norm norm : {Norm::Rms, Norm::Layer}) {
    for (const Mlp mlp : {Mlp::SwiGlu, Mlp::GeGlu, Mlp::Gelu}) {
      ModelConfig config = small_config();
      config.norm = norm;
      config.mlp = mlp;
      config.qk_norm = config.bias = norm == Norm::Layer;
      config.tied = mlp != Mlp::Gelu;
      Transformer model = make_model(config, "lerope");
      const double full = loss_of(model).item<double>();
      model.set_compute_dtype(at::kBFloat16);
      const at::Tensor half = loss_of(model);
      EXPECT_EQ(half.scalar_type(), at::kFloat);
      EXPECT_NEAR(half.item<double>(), full, 0.05);  // bf16 has 8 bits
      half.backward();
      EXPECT_EQ(model.parameter("alpha").value.grad().scalar_type(), at::kFloat);
      EXPECT_EQ(count_parameters(config) + 4, model.n_parameters());
    }
  }
}

TEST(Nll, EqualsLogSoftmaxOfTheLogits) {
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  const at::Tensor tokens = random_tokens(2, 8, 19, 2), targets = random_tokens(2, 8, 19, 4);
  const at::Tensor expected =
      -at::log_softmax(model.forward(tokens), -1).gather(2, targets.unsqueeze(2)).squeeze(2);
  EXPECT_LE(max_difference(model.nll(tokens, targets), expected), 1e-12);
}

TEST(Nll, ChunkedGradientEqualsAutograd) {
  // More rows than the 256 of a chunk of a large vocabulary.
  const at::Tensor x =
      at::arange(600 * 4, at::kDouble).sin().view({600, 4}).set_requires_grad(true);
  const at::Tensor head =
      at::arange(3'000 * 4, at::kDouble).cos().view({3'000, 4}).set_requires_grad(true);
  const at::Tensor targets = random_tokens(600, 1, 3'000, 9).flatten();
  const at::Tensor weight = at::arange(600, at::kDouble).cos();
  (linear_nll(x, head, targets) * weight).sum().backward();
  const at::Tensor dx = x.grad().clone(), dhead = head.grad().clone();
  x.mutable_grad() = head.mutable_grad() = at::Tensor();
  const at::Tensor plain = -at::log_softmax(x.matmul(head.t()), 1).gather(1, targets.unsqueeze(1));
  (plain.squeeze(1) * weight).sum().backward();
  EXPECT_LE(max_difference(dx, x.grad()), 1e-10);
  EXPECT_LE(max_difference(dhead, head.grad()), 1e-10);
}

TEST(Forward, CapturesQueriesAndKeysOfEachLayer) {
  const Transformer model = make_model(small_config(), "rope");
  Capture capture;
  model.forward(random_tokens(3, 6, 19, 2), {.tap = capture.tap()});
  ASSERT_EQ(capture.q.size(), 2U);
  EXPECT_EQ(capture.q[1].sizes(), (std::vector<int64_t>{3, 4, 6, 8}));
  EXPECT_EQ(capture.k[1].sizes(), (std::vector<int64_t>{3, 2, 6, 8}));
}

TEST(CurrentInvFreq, FollowsAlpha) {
  Transformer model = make_model(small_config(), "lerope:share=layer");
  {
    const c10::NoGradGuard no_grad;
    at::Tensor alpha = model.parameter("alpha").value;
    alpha[1][2].fill_(0.5);
  }
  const auto now = model.current_inv_freq();
  const auto& plan = model.plan().layers;
  EXPECT_EQ(now[0][0], plan[0].inv_freq[0]);
  EXPECT_DOUBLE_EQ(now[1][0][2], plan[1].inv_freq[0][2] * std::exp(0.5));
}

std::string value_error(const std::function<void()>& action) {
  try {
    action();
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "";
}

TEST(Faults, AreNamed) {
  Transformer model = make_model(small_config(), "rope");
  EXPECT_EQ(value_error([&] { model.parameter("x"); }), "transformer: no parameter 'x'");
  EXPECT_TRUE(value_error([&] {
                model.forward(at::zeros({2, 3}));
              }).starts_with("transformer: tokens must be [B, T] int64, got [2, 3]"));
  EXPECT_EQ(value_error([&] { model.set_compute_dtype(at::kDouble); }),
            "transformer: a Float model cannot compute in Double");
  ModelConfig deeper = small_config();
  deeper.layers = 3;
  EXPECT_EQ(value_error([&] { Transformer(deeper, model.plan()); }),
            "transformer: the position plan has 2 layers, the model 3");
}

}  // namespace
}  // namespace gyre::model
