// One query against a cache: the kernel for it against the float64 reference, at every level.
#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "gyre/attention/attention.h"
#include "gyre/attention/cpu/decode.h"
#include "gyre/attention/fixtures.h"
#include "gyre/base/error.h"

namespace gyre::attention {
namespace {

using namespace testing;

struct Case {
  Shape shape;
  position::MaskSpec mask{};
  bool biased = false;
  double cap = 0.0;
};

// Around pieces of 512 keys, groups of 1 to 7 heads, channels with a rest.
const Case kCases[] = {{{.B = 2, .H = 4, .G = 2, .T = 1, .S = 37, .D = 16}},
                       {{.B = 1, .H = 7, .G = 1, .T = 1, .S = 513, .D = 24}},
                       {{.B = 1, .H = 3, .G = 3, .T = 1, .S = 1100, .D = 80}, {}, true},
                       {{.B = 1, .H = 6, .G = 2, .T = 1, .S = 512, .D = 64}, {100, 1, 0}},
                       {{.B = 2, .H = 2, .G = 2, .T = 1, .S = 50, .D = 5}, {0, 1, 0, 16}},
                       {{.B = 1, .H = 4, .G = 1, .T = 1, .S = 600, .D = 272}, {}, false, 1.5},
                       {{.B = 1, .H = 1, .G = 1, .T = 1, .S = 1, .D = 8}}};

position::LayerPlan layer_of(const Case& one) {
  position::LayerPlan layer;
  layer.mask = one.mask;
  layer.logit_scale = 0.9;
  layer.score_cap = one.cap;
  for (int64_t h = 0; one.biased && h < one.shape.H; ++h) {
    layer.slopes.push_back(0.05 / static_cast<double>(1 + h));
  }
  return layer;
}

at::Tensor reference(const Batch& batch, const position::LayerPlan& layer) {
  return from_reference(
      reference_attention(reference_input(batch, layer, position::PairLayout::Halves)));
}

TEST(Decode, IsWithinTwiceTorchsErrorAtEveryLevel) {
  const c10::NoGradGuard no_grad;
  for (const Case& one : kCases) {
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
      const Batch batch = random_batch(one.shape, 17, dtype);
      const position::LayerPlan layer = layer_of(one);
      const at::Tensor expected = reference(batch, layer);
      const double theirs =
          max_difference(composite_attention(batch.q, batch.k, batch.v, layer), expected);
      for (const Isa level : usable_isas()) {
        const AtLevel at_level(level);
        const at::Tensor out = attention(batch.q, batch.k, batch.v, layer);
        EXPECT_EQ(out.scalar_type(), dtype);
        EXPECT_LE(max_difference(out, expected), 2 * theirs + 1e-6)
            << isa_name(level) << " S " << one.shape.S << " D " << one.shape.D << " " << dtype;
      }
    }
  }
}

TEST(Decode, TheCasesAreDoneByItsKernel) {
  for (const Case& one : kCases) {
    const Batch batch = random_batch(one.shape, 17, at::kFloat);
    cpu::Call call;
    call.q = batch.q;
    call.k = batch.k;
    call.v = batch.v;
    call.mask = one.mask;
    EXPECT_TRUE(cpu::decodes(call));
    call.mask = {4, 2, 0};
    EXPECT_FALSE(cpu::decodes(call));
    call.mask = {4, 1, 2};
    EXPECT_FALSE(cpu::decodes(call));
  }
}

TEST(Decode, SeesNoKeyBeforeTheFirstOfItsRow) {
  const c10::NoGradGuard no_grad;
  const Batch batch =
      random_batch({.B = 3, .H = 2, .G = 1, .T = 1, .S = 30, .D = 8}, 5, at::kFloat);
  const at::Tensor first = at::tensor({0, 12, 99}, at::kLong).view({3, 1});
  const at::Tensor out = attend(batch.q, batch.k, batch.v, {}, {}, first);
  const int64_t begins[] = {0, 12, 29};
  for (int64_t b = 0; b < 3; ++b) {
    const auto rows = [&](const at::Tensor& x) {
      return x.narrow(0, b, 1).narrow(2, begins[b], 30 - begins[b]);
    };
    const at::Tensor one = composite_attention(batch.q.narrow(0, b, 1), rows(batch.k),
                                               rows(batch.v), position::LayerPlan());
    EXPECT_LE(max_difference(out.narrow(0, b, 1), one), 1e-6) << b;
  }
}

TEST(Decode, ReadsCachesWithStrides) {
  const c10::NoGradGuard no_grad;
  const Batch batch =
      random_batch({.B = 2, .H = 4, .G = 2, .T = 1, .S = 40, .D = 16}, 9, at::kFloat);
  const auto held = [](const at::Tensor& x) { return x.narrow(2, 3, 31); };
  const at::Tensor strided = attention(batch.q, held(batch.k), held(batch.v), {});
  const at::Tensor dense =
      attention(batch.q, held(batch.k).contiguous(), held(batch.v).contiguous(), {});
  EXPECT_EQ(max_difference(strided, dense), 0.0);
}

}  // namespace
}  // namespace gyre::attention
