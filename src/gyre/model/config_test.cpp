// Parameter counts against published rules and tables; presets and faults.
#include "gyre/model/config.h"

#include <gtest/gtest.h>

#include "gyre/base/error.h"
#include "gyre/model/transformer.h"
#include "gyre/position/scheme.h"

namespace gyre::model {
namespace {

std::string error_of(ModelConfig config) {
  try {
    check(config);
  } catch (const Error& error) {
    EXPECT_EQ(static_cast<int>(error.code()), static_cast<int>(Code::Usage));
    return error.what();
  }
  return "";
}

ModelConfig valid() {
  ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 257;
  return config;
}

/// Parameter count of a model on the meta device: shapes only.
int64_t meta_count(const Preset& preset, const std::string& scheme = "rope") {
  const auto plan = position::make_plan(scheme, "full", plan_request(preset.config, preset.length));
  return Transformer(preset.config, plan, at::kMeta).n_parameters();
}

// total = 12 C^2 N + 2 C V (arXiv:2602.05298 with V = 32,000) and the norms by hand: per layer two
// of C and two of 64 (QK-norm), one of C at the end.
int64_t ladder_by_hand(int64_t heads) {
  const int64_t C = 64 * heads, N = 3 * heads / 4, V = 32'000;
  return 12 * C * C * N + 2 * C * V + N * (2 * C + 2 * 64) + C;
}

TEST(Ladder, HasThePublishedSizes) {
  // Published with a 32k vocabulary: 52M, 217M, 2.52B (arXiv:2607.10134).
  EXPECT_EQ(ladder_by_hand(8) / 100'000, 516);
  EXPECT_EQ(ladder_by_hand(16) / 100'000, 2165);
  EXPECT_EQ(ladder_by_hand(40) / 10'000'000, 252);
  for (const int64_t heads : {2, 4, 6, 8, 12, 16, 20, 24, 32, 40}) {
    const Preset& preset = find_preset(str("h", heads));
    EXPECT_EQ(count_parameters(preset.config), ladder_by_hand(heads)) << heads;
    EXPECT_EQ(meta_count(preset), ladder_by_hand(heads)) << heads;
  }
}

TEST(Ladder, BlockMatricesFollowTheRule) {
  EXPECT_EQ(count_block_matrices(find_preset("h8").config), 18'874'368);      // 12 * 512^2 * 6
  EXPECT_EQ(count_block_matrices(find_preset("h16").config), 150'994'944);    // 12 * 1024^2 * 12
  EXPECT_EQ(count_block_matrices(find_preset("h40").config), 2'359'296'000);  // 12 * 2560^2 * 30
}

TEST(Ladder, StepsAreTwentyTokensPerParameter) {
  // Published iterations at 65,536 tokens: 15.7k, 66.1k, 770k.
  EXPECT_NEAR(static_cast<double>(find_preset("h8").steps), 15.7e3, 100);
  EXPECT_NEAR(static_cast<double>(find_preset("h16").steps), 66.1e3, 100);
  EXPECT_NEAR(static_cast<double>(find_preset("h40").steps), 770e3, 1000);
}

TEST(Gemma2b, HasThePublishedSize) {
  // arXiv:2403.08295, table 2: 524,550,144 embedding and 1,981,884,416 other parameters.
  const Preset& preset = find_preset("gemma2b-paper");
  EXPECT_EQ(count_parameters(preset.config), 524'550'144 + int64_t{1'981'884'416});
  EXPECT_EQ(meta_count(preset, "prope:p=0.75"), 524'550'144 + int64_t{1'981'884'416});
  // arXiv:2410.06205: 10,000 steps of 512 x 8192 = 41.9 G tokens.
  EXPECT_EQ(preset.steps * preset.batch * preset.length, 41'943'040'000);
}

TEST(LearnedFrequencies, AddHalfTheHeadDimPerSharedPart) {
  const Preset& h8 = find_preset("h8");
  EXPECT_EQ(meta_count(h8, "lerope") - meta_count(h8), 32);
  EXPECT_EQ(meta_count(h8, "lerope:share=layer") - meta_count(h8), 6 * 32);
  EXPECT_EQ(meta_count(h8, "lerope:share=head") - meta_count(h8), 6 * 8 * 32);
}

TEST(Flops, OfOneTokenByHand) {
  ModelConfig config = valid();
  // C 128, N 3, H D 128, F 384, V 257: blocks 3 (4 * 128^2 + 3 * 128 * 384), head 257 * 128.
  const double weights = 3.0 * (4 * 128 * 128 + 3 * 128 * 384) + 257 * 128;
  EXPECT_DOUBLE_EQ(train_flops_per_token(config, 256), 6 * weights + 6.0 * 3 * 128 * 256);
}

TEST(Check, NamesTheOption) {
  EXPECT_EQ(error_of(valid()), "");
  ModelConfig config = valid();
  config.vocab = 0;
  EXPECT_EQ(error_of(config), "--vocab is 0, the tokenizer's; set it before a model is built");
  config = valid();
  config.width = -1;
  EXPECT_EQ(error_of(config), "--width must be positive, got -1");
  config = valid();
  config.heads = 6;
  config.kv_heads = 4;
  EXPECT_EQ(error_of(config), "--kv-heads must divide --heads 6, got 4");
  config = valid();
  config.head_dim = 7;
  EXPECT_EQ(error_of(config), "--head-dim must be even, got 7");
  config = valid();
  config.init_std = -0.5;
  EXPECT_EQ(error_of(config), "--init-std must be at least 0, got -0.5");
  config = valid();
  config.norm_eps = 0;
  EXPECT_EQ(error_of(config), "--norm-eps must be positive, got 0");
}

TEST(FindPreset, NamesTheNearest) {
  try {
    find_preset("h61");
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("no preset 'h61'; did you mean 'h6"))
        << error.what();
  }
}

}  // namespace
}  // namespace gyre::model
