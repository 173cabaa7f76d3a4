// The planner's figures by hand.
#include "gyre/train/estimate.h"

#include <gtest/gtest.h>

#include <functional>

#include "gyre/base/error.h"

namespace gyre::train {
namespace {

TEST(Estimate, OfH8ByHand) {
  PlanOptions options;
  options.gpus = 2;
  options.gpu_tflops = 100;
  options.mfu = 0.5;
  const Estimate e = estimate(model::find_preset("h8"), "lerope", "full", options);
  // 12 C^2 N + 2 C V + norms (config_test.cpp), 32 frequencies.
  EXPECT_EQ(e.params, 18'874'368 + 32'768'000 + 6 * (2 * 512 + 128) + 512 + 32);
  EXPECT_EQ(e.alpha_params, 32);
  // 6 (blocks + head) + 6 N C T per token.
  EXPECT_DOUBLE_EQ(e.flops_per_token, 6.0 * (18'874'368 + 16'384'000) + 6.0 * 6 * 512 * 2048);
  EXPECT_EQ(e.tokens, e.steps * 65'536);
  EXPECT_DOUBLE_EQ(e.state_bytes, 18.0 * static_cast<double>(e.params));
  EXPECT_NEAR(e.hours, e.flops / (2 * 100e12 * 0.5) / 3600, 1e-9 * e.hours);
  EXPECT_TRUE(e.fits);
}

TEST(Estimate, ShardingSplitsTheState) {
  PlanOptions options;
  options.gpus = 8;
  const Estimate whole = estimate(model::find_preset("h40"), "rope", "full", options);
  options.shard = true;
  const Estimate split = estimate(model::find_preset("h40"), "rope", "full", options);
  EXPECT_DOUBLE_EQ(split.state_bytes * 8, whole.state_bytes);
  options.gpu_memory_gib = 1;
  EXPECT_FALSE(estimate(model::find_preset("h40"), "rope", "full", options).fits);
}

std::string fault(const std::string& preset, const std::function<void(PlanOptions&)>& change) {
  PlanOptions options;
  change(options);
  try {
    estimate(model::find_preset(preset), "rope", "full", options);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Estimate, NamesTheOption) {
  EXPECT_EQ(fault("h8", [](auto& o) { o.gpus = 0; }), "--gpus must be positive, got 0");
  EXPECT_EQ(fault("h8", [](auto& o) { o.mfu = 1.5; }), "--mfu must be in (0, 1], got 1.5");
  EXPECT_EQ(fault("tiny", [](auto&) {}), "preset tiny fixes no token count; give --tokens");
}

}  // namespace
}  // namespace gyre::train
