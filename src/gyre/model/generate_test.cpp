// Prefill in chunks, decoding alone and in padded batches, draws.
#include "gyre/model/generate.h"

#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include "gyre/base/error.h"
#include "gyre/model/model_testing.h"

namespace gyre::model {
namespace {

std::vector<int64_t> ids_of(const at::Tensor& tokens) {
  return {tokens.const_data_ptr<int64_t>(), tokens.const_data_ptr<int64_t>() + tokens.numel()};
}

// The likeliest token after the whole sequence, anew for every token.
std::vector<int64_t> slowly(const Transformer& model, std::vector<int64_t> tokens, int64_t n) {
  const c10::NoGradGuard no_grad;
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; ++i) {
    const at::Tensor logits = model.forward(at::tensor(tokens, at::kLong).unsqueeze(0));
    out.push_back(logits.select(1, logits.size(1) - 1).argmax().item<int64_t>());
    tokens.push_back(out.back());
  }
  return out;
}

TEST(Generate, EqualsTheSlowWayAloneAndInABatch) {
  for (const char* mask : {"full", "window:5", "window:5/full"}) {
    const Transformer model = make_model(small_config(), "rope", mask, at::kDouble);
    const std::vector<std::vector<int64_t>> prompts = {ids_of(random_tokens(1, 11, 19, 3)),
                                                       ids_of(random_tokens(1, 4, 19, 4)),
                                                       ids_of(random_tokens(1, 1, 19, 6))};
    const auto batch = generate(model, prompts, {.n_tokens = 9, .ends = {}, .sampler = {}});
    for (size_t row = 0; row < prompts.size(); ++row) {
      EXPECT_EQ(batch[row], slowly(model, prompts[row], 9)) << mask << " row " << row;
    }
  }
}

TEST(Generate, PrefillInChunksGivesTheSameLogits) {
  const Transformer model = make_model(small_config(), "rope", "window:5/full", at::kDouble);
  const std::vector<int64_t> prompt = ids_of(random_tokens(1, 40, 19, 3));
  const at::Tensor whole = Decoder(model, 64).prefill({prompt});
  for (const int64_t chunk : {1, 7, 16}) {
    EXPECT_LE(max_difference(Decoder(model, chunk).prefill({prompt}), whole), 1e-12) << chunk;
  }
}

TEST(Generate, StopsAtAnEndAndWhenTold) {
  const Transformer model = make_model(small_config(), "rope");
  const std::vector<int64_t> prompt = ids_of(random_tokens(1, 8, 19, 3));
  const auto all = generate(model, {prompt}, {.n_tokens = 6, .ends = {}, .sampler = {}});
  ASSERT_EQ(all[0].size(), 6U);
  const auto ended = generate(model, {prompt}, {.n_tokens = 6, .ends = {all[0][0]}, .sampler = {}});
  EXPECT_EQ(ended[0], std::vector<int64_t>{all[0][0]});
  int64_t n_seen = 0;
  const auto told = generate(model, {prompt}, {.n_tokens = 6, .ends = {}, .sampler = {}},
                             [&](size_t /*row*/, int64_t /*id*/) { return ++n_seen < 3; });
  EXPECT_EQ(told[0].size(), 3U);
}

TEST(Sample, FollowsTheProbabilities) {
  const at::Tensor logits = at::tensor({0.0, 1.0, 2.0, -1.0}, at::kFloat).unsqueeze(0);
  const SamplerOptions plain{.temperature = 1.0};
  // Likeliest first: 2 (0.644), 1 (0.237), 0 (0.087), 3 (0.032).
  EXPECT_EQ(sample(logits, plain, {0.0})[0], 2);
  EXPECT_EQ(sample(logits, plain, {0.64})[0], 2);
  EXPECT_EQ(sample(logits, plain, {0.65})[0], 1);
  EXPECT_EQ(sample(logits, plain, {0.9})[0], 0);
  EXPECT_EQ(sample(logits, plain, {0.999})[0], 3);
  EXPECT_EQ(sample(logits, {.temperature = 1.0, .top_k = 2}, {0.999})[0], 1);
  EXPECT_EQ(sample(logits, {.temperature = 1.0, .top_k = 0, .top_p = 0.5}, {0.999})[0], 2);
  EXPECT_EQ(sample(logits, {}, {0.999})[0], 2);
  EXPECT_EQ(sample(logits, {.temperature = 10.0}, {0.65})[0], 0);
}

TEST(Sample, RefusesOptionsThatDoNotFit) {
  const auto message = [](const SamplerOptions& options) {
    try {
      check(options);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({.temperature = -1.0}), "--temperature must be at least 0, got -1");
  EXPECT_EQ(message({.top_k = -2}), "--top-k must be at least 0, got -2");
  EXPECT_EQ(message({.top_p = 0.0}), "--top-p must be in (0, 1], got 0");
}

TEST(Generate, SaysWhatIsWrongWithEmptyPrompts) {
  const Transformer model = make_model(small_config(), "rope");
  try {
    generate(model, {{1, 2}, {}}, {.n_tokens = 2, .ends = {}, .sampler = {}});
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("a row has no tokens"), std::string::npos);
  }
}

}  // namespace
}  // namespace gyre::model
