// Taking tokens back from a cache, and copies of it; the cache's use is in transformer_test.cpp.
#include "gyre/model/kv_cache.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/tensor.h>
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
      model.forward(prompt, {&cache});
      cache.truncate(kept);
      EXPECT_EQ(cache.length(), kept);
      const at::Tensor fresh = model.forward(at::cat({prompt.narrow(1, 0, kept), other}, 1));
      EXPECT_LE(max_difference(model.forward(other, {&cache}), fresh.narrow(1, kept, 6)), 1e-12)
          << mask << ", " << kept << " kept";
    }
  }
}

// A ring against a cache that keeps everything, over several drops of old keys.
TEST(KvCache, AWindowedCacheDropsWhatNoQuerySees) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 60, 19, 5);
  for (const char* mask : {"window:4", "window:4/full", "dilated:3x2", "chunk:5"}) {
    const Transformer model = make_model(small_config(), "rope", mask, at::kDouble);
    const at::Tensor whole = model.forward(tokens);
    KvCache all(model.config().layers), ring(model.plan(), 3);
    std::vector<at::Tensor> parts;
    for (int64_t first = 0, n = 1; first < 60; first += n, n = 1 + (first * 7) % 11) {
      n = std::min(n, 60 - first);
      parts.push_back(model.forward(tokens.narrow(1, first, n), {&ring}));
      model.forward(tokens.narrow(1, first, n), {&all});
    }
    EXPECT_LE(max_difference(at::cat(parts, 1), whole), 1e-12) << mask;
    EXPECT_EQ(ring.length(), 60);
    if (std::string(mask) == "window:4") {
      EXPECT_LT(2 * ring.n_bytes(), all.n_bytes());
    }
  }
}

TEST(KvCache, AWindowedCacheGoesBackByItsSlackAndNoFurther) {
  const c10::NoGradGuard no_grad;
  const at::Tensor prompt = random_tokens(1, 40, 19, 5), next = random_tokens(1, 6, 19, 8);
  const Transformer model = make_model(small_config(), "rope", "window:4", at::kDouble);
  KvCache cache(model.plan(), 5);
  for (int64_t t = 0; t < 40; ++t) {
    model.forward(prompt.narrow(1, t, 1), {&cache});
  }
  KvCache copy = cache;
  cache.truncate(35);
  const at::Tensor fresh = model.forward(at::cat({prompt.narrow(1, 0, 35), next}, 1));
  EXPECT_LE(max_difference(model.forward(next, {&cache}), fresh.narrow(1, 35, 6)), 1e-12);
  EXPECT_EQ(copy.length(), 40);
  try {
    copy.truncate(20);
    FAIL();
  } catch (const c10::ValueError& error) {
    EXPECT_NE(std::string(error.what())
                  .find("cannot go back to 20 tokens: a window needs the keys "
                        "from 17 on"),
              std::string::npos)
        << error.what();
  }
}

TEST(KvCache, PaddedRowsOfABatchGoOnLikeSingleOnes) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 21, 19, 5);
  for (const char* mask : {"full", "window:4", "window:4/full"}) {
    const Transformer model = make_model(small_config(), "rope", mask, at::kDouble);
    KvCache cache(model.plan(), 3);
    cache.set_padding(at::tensor({0, 6}, at::kLong));
    std::vector<at::Tensor> parts;
    for (int64_t first = 0; first < 21; first += 3) {
      parts.push_back(model.forward(tokens.narrow(1, first, 3), {&cache}));
    }
    const at::Tensor batch = at::cat(parts, 1);
    const at::Tensor a = model.forward(tokens.narrow(0, 0, 1)),
                     b = model.forward(tokens.narrow(0, 1, 1).narrow(1, 6, 15));
    EXPECT_LE(max_difference(batch.narrow(0, 0, 1), a), 1e-12) << mask;
    EXPECT_LE(max_difference(batch.narrow(0, 1, 1).narrow(1, 6, 15), b), 1e-12) << mask;
  }
}

TEST(KvCache, GoesBackToNothing) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  const at::Tensor tokens = random_tokens(1, 5, 19, 2);
  KvCache cache(model.config().layers);
  cache.truncate(0);
  model.forward(random_tokens(1, 7, 19, 3), {&cache});
  cache.truncate(0);
  EXPECT_EQ(cache.length(), 0);
  EXPECT_LE(max_difference(model.forward(tokens, {&cache}), model.forward(tokens)), 1e-12);
}

TEST(KvCache, ACopyKeepsItsOwnTokens) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  KvCache prefix(model.config().layers);
  model.forward(random_tokens(1, 6, 19, 4), {&prefix});
  KvCache branch = prefix;
  model.forward(random_tokens(1, 3, 19, 9), {&branch});
  branch.truncate(2);
  EXPECT_EQ(prefix.length(), 6);
  EXPECT_EQ(branch.length(), 2);
}

TEST(KvCache, SaysWhatItHoldsWhenAskedForMore) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope");
  KvCache cache(model.config().layers);
  model.forward(random_tokens(1, 4, 19, 4), {&cache});
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

Transformer at_length(const Transformer& model, const std::string& scheme, int64_t length) {
  position::PlanRequest request = plan_request(model.config(), 16);
  request.length = length;
  return model.with_plan(position::make_plan(scheme, "full", request));
}

std::string fault_of(const Transformer& model, const at::Tensor& tokens, KvCache& cache) {
  try {
    model.forward(tokens, {&cache});
  } catch (const c10::ValueError& error) {
    return error.what_without_backtrace();
  }
  return "";
}

// Cases 12 and 13: past the switch length, cached keys belong to the other table.
TEST(KvCache, StopsWhereTheTablesChange) {
  const c10::NoGradGuard no_grad;
  for (const std::string scheme : {"longrope:original=16,max=64", "dynamic:factor=4,original=16"}) {
    const Transformer model = make_model(small_config(), scheme, "full", at::kDouble);
    const Transformer early = at_length(model, scheme, 10), late = at_length(model, scheme, 20);
    KvCache cache(model.config().layers);
    early.forward(random_tokens(1, 10, 19, 3), {&cache});
    early.forward(random_tokens(1, 6, 19, 4), {&cache});  // 16: the last that the table is for
    const std::string fault = fault_of(early, random_tokens(1, 1, 19, 5), cache);
    EXPECT_EQ(fault.rfind("transformer: 1 tokens after the 16 in the cache make 17, the plan's "
                          "tables hold up to 16; make the plan of the longer sequence and run it "
                          "all anew (a sequence of ",
                          0),
              0U)
        << fault;
    EXPECT_EQ(cache.length(), 16);
    EXPECT_EQ(fault_of(late, random_tokens(1, 1, 19, 5), cache),
              "kv cache: the 16 tokens held were rotated by another position plan; start an empty "
              "cache and run the whole sequence anew");
  }
}

TEST(KvCache, TheWholeSequenceRunAnewGoesOn) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(1, 20, 19, 6);
  for (const std::string scheme : {"longrope:original=16,max=64", "dynamic:factor=4,original=16"}) {
    const Transformer late =
        at_length(make_model(small_config(), scheme, "full", at::kDouble), scheme, 20);
    KvCache cache(late.config().layers);
    late.forward(tokens.narrow(1, 0, 7), {&cache});
    const at::Tensor rest = late.forward(tokens.narrow(1, 7, 13), {&cache});
    EXPECT_LE(max_difference(rest, late.forward(tokens).narrow(1, 7, 13)), 1e-12) << scheme;
    // The long list has no end; a base grown for 20 tokens is for no more.
    EXPECT_EQ(fault_of(late, random_tokens(1, 1, 19, 5), cache).empty(), scheme[0] == 'l');
  }
}

TEST(KvCache, AnEmptiedCacheTakesAnotherPlan) {
  const c10::NoGradGuard no_grad;
  const std::string scheme = "longrope:original=16,max=64";
  const Transformer model = make_model(small_config(), scheme, "full", at::kDouble);
  KvCache cache(model.config().layers);
  at_length(model, scheme, 10).forward(random_tokens(1, 10, 19, 3), {&cache});
  cache.truncate(0);
  EXPECT_EQ(fault_of(at_length(model, scheme, 20), random_tokens(1, 18, 19, 3), cache), "");
}

}  // namespace
}  // namespace gyre::model
