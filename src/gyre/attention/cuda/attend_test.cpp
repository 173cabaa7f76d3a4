// The CUDA path: on the CPU through the emulated backend, on a GPU where there is one.
#include "gyre/attention/cuda/attend.h"

#include <ATen/Context.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include "gyre/attention/attention.h"
#include "gyre/attention/cuda/attend_testing.h"
#include "gyre/attention/cuda/emulation_testing.h"
#include "gyre/attention/cuda/flash.h"
#include "gyre/base/error.h"

namespace gyre::attention::cuda {
namespace {

using namespace attention::testing;
using position::PairLayout;
using testing::Target;

Target emulated() {
  return {&testing::emulated_backend(), at::kCPU};
}

TEST(CudaAttend, EverySchemeAndMaskEqualsTheReferenceInFloat64) {
  const OneThread quick;
  testing::check_schemes_in_float64(emulated(), 1e-12);
}

TEST(CudaAttend, EverySchemeAndMaskIsWithinTwiceTorchsErrorInBfloat16) {
  const OneThread quick;
  testing::check_schemes_in_bfloat16(emulated());
}

TEST(CudaAttend, LongBiasedRowsAreWithinTwiceTorchsErrorInBfloat16) {
  const OneThread quick;
  testing::check_long_rows_in_bfloat16(emulated());
}

TEST(CudaAttend, PackedSequencesSeeTheirOwnKeysAlone) {
  const Batch batch = random_batch({.B = 1, .H = 4, .G = 2, .T = 9, .S = 9, .D = 4}, 8);
  position::LayerPlan layer;
  layer.slopes = {0.5, 0.3, 0.2, 0.1};
  at::Tensor first_key = at::zeros({1, 9}, at::kLong);
  first_key.narrow(1, 4, 5).fill_(4);  // documents of 4 and 5 tokens
  first_key.narrow(1, 0, 1).fill_(7);  // past its own index: sees itself
  const auto packed = testing::run(emulated(), batch, layer, PairLayout::Unstated, first_key);
  for (const auto& [begin, n] : {std::pair<int64_t, int64_t>{0, 4}, {4, 5}}) {
    const Batch one{batch.q.narrow(2, begin, n), batch.k.narrow(2, begin, n),
                    batch.v.narrow(2, begin, n), batch.weight.narrow(2, begin, n)};
    const auto alone = testing::run_reference(one, layer, PairLayout::Unstated);
    expect_near(packed.out.narrow(2, begin, n), alone.out, 1e-13, 0, "out");
    expect_near(packed.k.narrow(2, begin, n), alone.k, 1e-13, 0, "dk");
  }
}

TEST(CudaAttend, TakesFlashOnlyForWhatItCanDo) {
  const Backend& backend = testing::emulated_backend();
  const auto query = [](int64_t D, at::ScalarType type) { return at::empty({1, 2, 3, D}, type); };
  position::LayerPlan plain, biased, unscaled, negative;
  biased.slopes = {0.5, 0.25};
  unscaled.logit_scale = 0.0;
  negative.logit_scale = -1.0;  // the vendor's running maximum is that of unscaled scores
  EXPECT_TRUE(uses_flash(backend, query(256, at::kBFloat16), plain, {}));
  EXPECT_TRUE(uses_flash(backend, query(248, at::kBFloat16), biased, {}));
  EXPECT_FALSE(uses_flash(backend, query(256, at::kBFloat16), biased, {}));
  EXPECT_FALSE(uses_flash(backend, query(64, at::kFloat), plain, {}));
  EXPECT_FALSE(uses_flash(backend, query(64, at::kBFloat16), unscaled, {}));
  EXPECT_FALSE(uses_flash(backend, query(64, at::kBFloat16), negative, {}));
  EXPECT_FALSE(uses_flash(backend, query(64, at::kBFloat16), plain, at::zeros({1, 3}, at::kLong)));
}

TEST(CudaFlash, BiasChannelsGiveTheBiasUpToAConstantPerRow) {
  // Two thirds of a slope over 70,000 keys: three digits, two parts.
  for (const int64_t S : {5, 127, 300, 32000, 70000}) {
    const int64_t T = 4, D = 8;
    const double scale = 0.37;
    const std::vector<double> slopes{2.0 / 3.0, 0.1};
    const auto zeros = [](int64_t heads, int64_t n) {
      return at::zeros({1, heads, n, D}, at::kBFloat16);
    };
    const FlashInput in = flash_input(zeros(2, T), zeros(1, S), zeros(1, S), slopes, scale);
    const at::Tensor q = in.q.to(at::kDouble), k = in.k.to(at::kDouble);
    EXPECT_EQ(q.size(3), 16);
    for (int64_t h = 0; h < 2; ++h) {
      const at::Tensor got_S = k.select(2, 0)[0].matmul(q[0][1][h]) * scale;
      const double slope = slopes[static_cast<size_t>(h)];
      const double constant = got_S[0].item<double>();
      for (const int64_t j : {int64_t{1}, S / 3, S / 2, S - 2, S - 1}) {
        const double wanted = slope * static_cast<double>(j);
        // Two parts of 8 bits and their signs leave 2^-18 of the slope.
        EXPECT_NEAR(got_S[j].item<double>() - constant, wanted, 1e-5 * wanted) << S << " " << j;
      }
    }
  }
}

TEST(CudaFlash, LeavesInputsWithoutBiasWhereTheyAre) {
  const at::Tensor q = at::zeros({1, 4, 3, 2 * 8}, at::kBFloat16);
  EXPECT_EQ(flash_input(q, q, q, {}, 1.0).q.const_data_ptr(), q.const_data_ptr());
}

TEST(CudaBackend, SaysWhatIsMissingInBuildsWithoutKernels) {
  if (built()) {
    GTEST_SKIP() << "this build has the cuda kernels";
  }
  try {
    cuda_backend();
    FAIL();
  } catch (const c10::NotImplementedError& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "attention: the tensors are on a cuda device, but gyre was built without the cuda "
                 "preset; build it with: cmake --preset cuda && cmake --build --preset cuda "
                 "(docs/cuda.md), or use --device cpu");
  }
}

TEST(CudaBackend, OtherDevicesAreNamed) {
  const at::Tensor q = at::empty({1, 2, 3, 4}, at::TensorOptions(at::kFloat).device(at::kMeta));
  try {
    attention::attention(q, q, q, {});
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "attention: tensors must be on the cpu or on one cuda device, q is on meta, k on "
                 "meta, v on meta");
  }
}

// --- On a GPU ---

class CudaDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!built()) {
      GTEST_SKIP() << "gyre was built without the cuda preset";
    }
    if (!at::hasCUDA()) {
      GTEST_SKIP() << "torch sees no CUDA device";
    }
  }
  static Target gpu() { return {&cuda_backend(), at::Device(at::kCUDA, 0)}; }
};

TEST_F(CudaDevice, EverySchemeAndMaskEqualsTheReferenceInFloat64) {
  testing::check_schemes_in_float64(gpu(), 1e-11);
}

TEST_F(CudaDevice, EverySchemeAndMaskIsWithinTwiceTorchsErrorInBfloat16) {
  testing::check_schemes_in_bfloat16(gpu());
}

TEST_F(CudaDevice, LongBiasedRowsAreWithinTwiceTorchsErrorInBfloat16) {
  testing::check_long_rows_in_bfloat16(gpu());
}

TEST_F(CudaDevice, EqualRunsGiveEqualBits) {
  const Batch batch =
      random_batch({.B = 2, .H = 4, .G = 2, .T = 700, .S = 700, .D = 64}, 9, at::kBFloat16);
  position::LayerPlan layer;
  layer.inv_freq = {{1.0, 0.3, 0.1, 0.01}};
  layer.slopes = {0.5, 0.3, 0.2, 0.1};
  const auto a = testing::run(gpu(), batch, layer, PairLayout::Halves);
  const auto b = testing::run(gpu(), batch, layer, PairLayout::Halves);
  EXPECT_EQ(max_difference(a.q, b.q), 0.0);
  EXPECT_EQ(max_difference(a.k, b.k), 0.0);
  EXPECT_EQ(max_difference(a.theta, b.theta), 0.0);
}

TEST_F(CudaDevice, PublicCallsTakeCudaTensors) {
  const Batch batch = random_batch({.B = 1, .H = 2, .G = 2, .T = 6, .S = 6, .D = 8}, 10);
  const auto on_gpu = [](const at::Tensor& x) { return x.to(at::kCUDA); };
  const at::Tensor out =
      attention::attention(on_gpu(batch.q), on_gpu(batch.k), on_gpu(batch.v), {});
  expect_near(out.cpu(), attention::attention(batch.q, batch.k, batch.v, {}), 1e-12, 0, "out");
}

}  // namespace
}  // namespace gyre::attention::cuda
