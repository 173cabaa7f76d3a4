// Training on a GPU against the same run on the CPU; skipped where there is none.
#include <ATen/Context.h>
#include <ATen/ops/equal.h>

#include <cmath>

#include "gyre/attention/cuda/backend.h"
#include "gyre/train/run_dir.h"
#include "gyre/train/run_testing.h"

namespace gyre::train {
namespace {

using data::TestFolder;

class CudaRun : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!attention::cuda::built()) {
      GTEST_SKIP() << "gyre was built without the cuda preset";
    }
    if (!at::hasCUDA()) {
      GTEST_SKIP() << "torch sees no CUDA device";
    }
  }
};

RunSetup gpu_setup(const TestFolder& folder, const std::string& name) {
  RunSetup setup = small_setup(folder, name);
  setup.device = at::kCUDA;
  return setup;
}

TEST_F(CudaRun, FollowsTheRunOfTheCpu) {
  const TestFolder folder;
  const RunSetup cpu = small_setup(folder, "cpu"), gpu = gpu_setup(folder, "gpu");
  const RunResult a = run(cpu), b = run(gpu);
  const std::vector<double> on_cpu = losses_of(cpu.out), on_gpu = losses_of(gpu.out);
  ASSERT_EQ(on_cpu.size(), on_gpu.size());
  // Equal weights and batches: float32 rounding in the first step, grown by 24 updates at the end.
  EXPECT_NEAR(on_gpu.front(), on_cpu.front(), 1e-5);
  EXPECT_NEAR(on_gpu.back(), on_cpu.back(), 1e-2);
  EXPECT_NEAR(b.val_loss, a.val_loss, 1e-2);
}

TEST_F(CudaRun, StartsFromTheWeightsOfTheCpu) {
  model::ModelConfig config;
  config.vocab = 40;
  config.width = 32;
  config.layers = 1;
  config.heads = 2;
  config.head_dim = 16;
  config.hidden = 48;
  position::PositionPlan plan;
  plan.head_dim = 16;
  plan.layers.resize(1);
  model::Transformer on_cpu(config, plan), on_gpu(config, plan, at::kCUDA);
  on_cpu.init(3);
  on_gpu.init(3);
  for (const model::Parameter& each : on_cpu.parameters()) {
    EXPECT_TRUE(at::equal(each.value, on_gpu.parameter(each.name).value.cpu())) << each.name;
  }
}

TEST_F(CudaRun, ItsCheckpointLoadsOnEitherDevice) {
  const TestFolder folder;
  const RunSetup setup = gpu_setup(folder, "gpu");
  run(setup);
  const train::Run on_cpu = load_run(setup.out), on_gpu = load_run(setup.out, at::kCUDA);
  for (const model::Parameter& each : on_cpu.model.parameters()) {
    EXPECT_TRUE(at::equal(each.value, on_gpu.model.parameter(each.name).value.cpu())) << each.name;
  }
}

TEST_F(CudaRun, TwiceGivesEqualLosses) {
  const TestFolder folder;
  const RunSetup first = gpu_setup(folder, "first"), second = gpu_setup(folder, "second");
  run(first);
  run(second);
  EXPECT_EQ(losses_of(first.out), losses_of(second.out));
}

}  // namespace
}  // namespace gyre::train
