// The arithmetic of extension.h where no scheme test reaches, and: a run that ended with a base's
// own table is extended as the base is, by every method.
#include "gyre/position/extension.h"

#include <cmath>
#include <limits>

#include "gyre/base/error.h"
#include "gyre/position/schemes/scheme_testing.h"

namespace gyre::position {
namespace {

using namespace testing;

TEST(Extension, AGeometricRunIsExtendedAsItsBaseIs) {
  const auto rope = bands_of("rope:base=50000", 32);
  std::string text = "[[[";
  for (const double theta : rope) {
    text += (text.size() == 3 ? "" : ",") + detail::format(theta);
  }
  const TemporaryRun run(text + "]]]");
  const PlanRequest request{.head_dim = 32, .train_length = 512, .length = 3000};
  int n_methods = 0;
  for (const SchemeInfo& info : schemes()) {
    const auto scheme = info.make();
    bool has_from = false, has_base = false;
    for (const Field& field : scheme->fields()) {
      has_from |= field.name == "from";
      has_base |= field.name == "base";
    }
    if (!has_from || !has_base) {
      continue;
    }
    ++n_methods;
    const std::string spec = info.name + ":base=50000";
    const PositionPlan plain = make_plan(spec, "full", request);
    const PositionPlan learned = make_plan(spec + ",from=" + run.path(), "full", request);
    SCOPED_TRACE(info.name);
    expect_close(learned.layers[0].inv_freq[0], plain.layers[0].inv_freq[0], 1e-13);
    EXPECT_NE(plain.layers[0].inv_freq[0], rope);
    EXPECT_EQ(learned.layers[0].amplitude, plain.layers[0].amplitude);
    EXPECT_EQ(learned.length_rule, plain.length_rule);
  }
  EXPECT_EQ(n_methods, 8);
}

TEST(Extension, BandIndexIsThePlaceInTheBasesTable) {
  EXPECT_EQ(band_index(1.0, 10000, 64), 0.0);
  EXPECT_EQ(band_index(std::pow(10000.0, -2.0 * 17 / 64), 10000, 64), 17.0);
  EXPECT_NEAR(band_index(std::pow(10000.0, -2.0 * 17.25 / 64), 10000, 64), 17.25, 1e-12);
  EXPECT_EQ(band_index(0.0, 10000, 64), std::numeric_limits<double>::infinity());
  EXPECT_LT(band_index(1.5, 10000, 64), 0.0);  // learned beyond the table's fastest
}

TEST(Extension, ARampOfNoWidthIsAStep) {
  // Equal bounds get a width of 0.001, as in the released code.
  EXPECT_EQ(ramp(19.0, 19.0, 19.0), 0.0);
  EXPECT_EQ(ramp(20.0, 19.0, 19.0), 1.0);
  EXPECT_NEAR(ramp(19.0005, 19.0, 19.0), 0.5, 1e-9);
}

TEST(Extension, NoExtensionChangesNothing) {
  const Bands bands{1.0, 0.1, 0.01, 0.0};
  EXPECT_EQ(linear_bands(bands, 1.0), bands);
  EXPECT_EQ(ntk_bands(bands, 1.0, 10000, 8), bands);
  EXPECT_EQ(by_parts_bands(bands, 1.0, 64), bands);
  EXPECT_EQ(llama3_bands(bands, {.factor = 1.0, .original = 64}).bands, bands);
  EXPECT_EQ(clipped_bands(bands, 0, false), bands);
  EXPECT_EQ(yarn_attention_factor(1.0), 1.0);
  EXPECT_EQ(yarn_softmax_correction(4.0, 0.0), 1.0);
  EXPECT_EQ(longrope_attention_factor(1.0, 4096), 1.0);
  EXPECT_EQ(dynamic_base(10000, 2.0, 4096, 10, 128), 10000.0);
}

TEST(Extension, GgufDivisorsUndoTheChange) {
  // ggml-org/llama.cpp#8650: Llama 3.1 has 29 ones first and 29 eights last.
  const auto bands = bands_of("llama3:base=500000,factor=8,original=8192", 128);
  const auto divisors = gguf_divisors(bands, 500000, 128);
  for (size_t m = 0; m < 29; ++m) {
    EXPECT_EQ(divisors[m], 1.0) << m;
    EXPECT_EQ(divisors[63 - m], 8.0) << m;
  }
  EXPECT_EQ(gguf_divisors({1.0, 0.0}, 10000, 4)[1], 1e30);
}

}  // namespace
}  // namespace gyre::position
