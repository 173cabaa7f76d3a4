// Taking tokens back from a cache, and copies of it; the cache's use is in transformer_test.cpp.
#include "gyre/model/kv_cache.h"

#include <ATen/ops/cat.h>
#include <c10/core/GradMode.h>

#include "gyre/model/model_testing.h"

namespace gyre::model {
namespace {

TEST(KvCache, ARolledBackCacheGoesOnLikeAFreshRun) {
  const c10::NoGradGuard no_grad;
  const at::Tensor prompt = random_tokens(2, 12, 19, 5), other = random_tokens(2, 6, 19, 8);
  for (const char* mask : {"full", "window:4", "chunk:5", "window:3+global:2"}) {
    const Transformer model = make_model(small_config(), "rope", mask, at::kDouble);
    for (const int64_t kept : {9, 1, 12}) {
      KvCache cache(model.config().layers);
      model.forward(prompt, &cache);
      cache.truncate(kept);
      EXPECT_EQ(cache.length(), kept);
      const at::Tensor fresh = model.forward(at::cat({prompt.narrow(1, 0, kept), other}, 1));
      EXPECT_LE(max_difference(model.forward(other, &cache), fresh.narrow(1, kept, 6)), 1e-12)
          << mask << ", " << kept << " kept";
    }
  }
}

TEST(KvCache, GoesBackToNothing) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  const at::Tensor tokens = random_tokens(1, 5, 19, 2);
  KvCache cache(model.config().layers);
  cache.truncate(0);
  model.forward(random_tokens(1, 7, 19, 3), &cache);
  cache.truncate(0);
  EXPECT_EQ(cache.length(), 0);
  EXPECT_LE(max_difference(model.forward(tokens, &cache), model.forward(tokens)), 1e-12);
}

TEST(KvCache, ACopyKeepsItsOwnTokens) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  KvCache prefix(model.config().layers);
  model.forward(random_tokens(1, 6, 19, 4), &prefix);
  KvCache branch = prefix;
  model.forward(random_tokens(1, 3, 19, 9), &branch);
  branch.truncate(2);
  EXPECT_EQ(prefix.length(), 6);
  EXPECT_EQ(branch.length(), 2);
}

TEST(KvCache, SaysWhatItHoldsWhenAskedForMore) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope");
  KvCache cache(model.config().layers);
  model.forward(random_tokens(1, 4, 19, 4), &cache);
  for (const int64_t length : {5, -1}) {
    try {
      cache.truncate(length);
      FAIL() << "no error for " << length;
    } catch (const c10::ValueError& error) {
      EXPECT_NE(std::string(error.what_without_backtrace()).find("4 are held; give 0 to 4"),
                std::string::npos)
          << error.what_without_backtrace();
    }
  }
}

}  // namespace
}  // namespace gyre::model
