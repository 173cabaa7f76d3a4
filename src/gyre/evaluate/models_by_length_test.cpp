// Positions that depend on the length: the evaluation at length L uses the plan of L.
#include "gyre/evaluate/models_by_length.h"

#include <ATen/ops/equal.h>
#include <ATen/ops/randint.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "gyre/base/log.h"
#include "gyre/evaluate/evaluate.h"
#include "gyre/evaluate/fixtures.h"
#include "gyre/position/scheme.h"

namespace gyre::evaluate {
namespace {

constexpr const char* kSpec = "dynamic:factor=4";

train::Run small_run(const std::string& scheme) {
  train::RunManifest manifest;
  manifest.train_length = 32;
  manifest.scheme = scheme;
  manifest.mask = "full";
  manifest.model.layout = position::PairLayout::Halves;
  manifest.model.vocab = 257;
  manifest.model.width = 32;
  manifest.model.layers = 2;
  manifest.model.heads = 2;
  manifest.model.head_dim = 16;
  manifest.model.hidden = 32;
  manifest.model.init_std = 0.3;  // attention that depends on positions
  manifest.tokenizer_kind = "bytes";
  manifest.tokenizer_hash = "tokenizer-one";
  manifest.corpus_hash = "corpus-one";
  manifest.plan = position::make_plan(scheme, "full", model::plan_request(manifest.model, 32));
  model::Transformer model(manifest.model, manifest.plan);
  model.init(4);
  return {"somewhere/run", manifest, std::move(model)};
}

at::Tensor random_ids(int64_t T) {
  return at::randint(257, {1, T}, at::TensorOptions(at::kLong));
}

// A model of its own at length 128, with the same weights.
model::Transformer twin_at(const train::Run& run, int64_t length) {
  position::PlanRequest request = model::plan_request(run.manifest.model, 32);
  request.length = length;
  model::Transformer twin(run.manifest.model,
                          position::make_plan(run.manifest.scheme, "full", request));
  twin.init(4);
  return twin;
}

TEST(ModelsByLength, EveryLengthHasItsPlan) {
  const c10::NoGradGuard no_grad;
  const train::Run run = small_run(kSpec);
  ModelsByLength models(run);
  const at::Tensor tokens = random_ids(128);
  const at::Tensor long_logits = models.at(128).forward(tokens);
  EXPECT_TRUE(at::equal(long_logits, twin_at(run, 128).forward(tokens)));
  EXPECT_FALSE(at::equal(long_logits, run.model.forward(tokens)));
  EXPECT_EQ(&models.at(128), &models.at(128));
  EXPECT_EQ(&models.at(32), &run.model);
  // Up to the training length the base is the base.
  EXPECT_EQ(models.at(16).plan().layers, run.model.plan().layers);
}

TEST(ModelsByLength, APlanWithoutARuleIsTheRunsOwnAtEveryLength) {
  const train::Run run = small_run("rope");
  ModelsByLength models(run);
  EXPECT_EQ(&models.at(4096), &run.model);
}

TEST(ModelsByLength, TheLengthCurveUsesThem) {
  const auto old = set_log_sink([](Level, std::string_view) {});
  const testing::TempFolder folder("evaluate-by-length");
  const train::Run run = small_run(kSpec);
  data::Dataset dataset;
  dataset.corpus_hash = "corpus-one";
  dataset.tokenizer_hash = "tokenizer-one";
  dataset.tokenizer = model::byte_tokenizer();
  dataset.vocab = 257;
  dataset.val_bytes_per_token = 1.0;
  dataset.val = testing::make_stream(folder.path / "val.bin", testing::random_tokens(700, 256));
  EvalOptions options;
  options.val_tokens = 64;
  options.lengths = {"32", "128"};
  options.length_tokens = 256;
  options.distractors = {};
  options.band_windows = 0;
  const Evaluation evaluation = evaluate(run, dataset, options);
  set_log_sink(old);
  EXPECT_EQ(evaluation.notes.at(0),
            "positions depend on the length: " + run.manifest.plan.length_rule);

  const c10::NoGradGuard no_grad;
  const auto loss_with = [&](const model::Transformer& model) {
    std::vector<std::string> notes;
    return length_curve(
               *dataset.val, {128}, 256,
               [&](const at::Tensor& tokens, const at::Tensor& targets) {
                 return model.nll(tokens, targets);
               },
               notes)
        .at(0)
        .loss;
  };
  ASSERT_EQ(evaluation.lengths.at(1).length, 128);
  ASSERT_FALSE(evaluation.lengths.at(1).sliding);
  EXPECT_DOUBLE_EQ(evaluation.lengths.at(1).loss, loss_with(twin_at(run, 128)));
  EXPECT_NE(evaluation.lengths.at(1).loss, loss_with(run.model));
}

}  // namespace
}  // namespace gyre::evaluate
