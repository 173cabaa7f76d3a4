// A tap that attends itself stands in for the model's attention.
#include <ATen/ops/arange.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include "gyre/attention/attention.h"
#include "gyre/model/forward_pass.h"
#include "gyre/model/model_testing.h"

namespace gyre::model {
namespace {

TEST(Tap, AttendingItselfGivesTheModelsOwnResult) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope");
  const at::Tensor tokens = random_tokens(2, 9, model.config().vocab, 3);
  const Tap attend = [&](int64_t n, at::Tensor& q, at::Tensor& k, at::Tensor& v) {
    const position::LayerPlan& layer = model.plan().layers[static_cast<size_t>(n)];
    const auto rotation = attention::make_rotation(layer_theta(model, n), at::arange(9, at::kLong),
                                                   model.plan().layout, layer, at::kFloat);
    v = attention::attend(q, k, v, rotation, layer);
    q = at::Tensor();
  };
  EXPECT_EQ(max_difference(model.hidden(tokens, {.tap = attend}), model.hidden(tokens)), 0.0);
}

TEST(Tap, AttendingItselfKnowsNoCache) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope");
  KvCache cache(model.plan());
  const Tap attend = [](int64_t, at::Tensor& q, at::Tensor&, at::Tensor&) { q = at::Tensor(); };
  try {
    model.hidden(random_tokens(1, 4, model.config().vocab, 3), {.cache = &cache, .tap = attend});
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_STREQ(error.what_without_backtrace(),
                 "transformer: a tap that attends itself does not go with a cache");
  }
}

}  // namespace
}  // namespace gyre::model
