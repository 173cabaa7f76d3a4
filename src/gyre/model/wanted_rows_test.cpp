// A pass of which the last rows alone are wanted equals those of the full pass, on every kind of
// model, and leaves the same keys and values.
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <algorithm>

#include "gyre/model/kv_cache.h"
#include "gyre/model/model_testing.h"

namespace gyre::model {
namespace {

constexpr double kClose = 1e-12;  // float64: the same sums, other shapes of the products

struct Kind {
  std::string name;
  ModelConfig config;
  std::string scheme = "rope", mask = "full";
};

std::vector<Kind> kinds() {
  std::vector<Kind> out = {{"plain", small_config()}};
  const auto add = [&](const std::string& name, void (*change)(ModelConfig&),
                       const std::string& scheme = "rope", const std::string& mask = "full") {
    out.push_back({name, small_config(), scheme, mask});
    change(out.back().config);
  };
  const auto as_is = [](ModelConfig&) {};
  add("qk-norm", [](ModelConfig& c) { c.qk_norm = true; });
  add("post-norm", [](ModelConfig& c) { c.post_norm = true; });
  add(
      "post-norm, qk-norm, capped logits, windowed",
      [](ModelConfig& c) {
        c.post_norm = c.qk_norm = true;
        c.logit_cap = 3.0;
        c.embedding_scale = 2.0;
      },
      "rope", "window:4/full");
  add("bias", [](ModelConfig& c) { c.qkv_bias = true; });
  add("layer norm, gelu", [](ModelConfig& c) {
    c.norm = Norm::Layer;
    c.mlp = Mlp::Gelu;
  });
  add("one block", [](ModelConfig& c) { c.layers = 1; });
  add("windowed last block", as_is, "rope", "window:4");
  add("chunks", as_is, "rope", "chunk:5");
  add("dilated", as_is, "rope", "dilated:3x2");
  add("global tokens", as_is, "rope", "window:3+global:2");
  add("bias of scores", as_is, "alibi");
  add("decay", as_is, "xpos");
  add("no rotation", as_is, "nope");
  add("frequencies by head", as_is, "lerope:share=head");
  return out;
}

Transformer double_model(const Kind& kind) {
  return make_model(kind.config, kind.scheme, kind.mask, at::kDouble);
}

at::Tensor last(const at::Tensor& x, int64_t n) {
  return x.narrow(1, x.size(1) - n, n);
}

// Keys and values of every layer as the next call would see them.
void expect_equal_caches(const KvCache& a, const KvCache& b, const ModelConfig& config,
                         const std::string& what) {
  ASSERT_EQ(a.length(), b.length()) << what;
  KvCache left = a, right = b;
  const at::Tensor one = at::ones({2, config.n_kv_heads(), 1, config.head_dim}, at::kDouble);
  for (int64_t n = 0; n < config.layers; ++n) {
    const KvCache::Held x = left.append(n, one, one), y = right.append(n, one, one);
    EXPECT_EQ(x.first, y.first) << what;
    EXPECT_LE(max_difference(x.k, y.k), kClose) << what << ", layer " << n;
    EXPECT_LE(max_difference(x.v, y.v), kClose) << what << ", layer " << n;
  }
}

TEST(WantedRows, EqualThoseOfTheFullPass) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 13, 19, 5);
  for (const Kind& kind : kinds()) {
    const Transformer model = double_model(kind);
    const at::Tensor all = model.forward(tokens);
    for (const int64_t n : {1, 3, 12, 13}) {
      EXPECT_LE(max_difference(model.forward(tokens, {.wanted_rows = n}), last(all, n)), kClose)
          << kind.name << ", " << n;
    }
    EXPECT_EQ(model.hidden(tokens, {.wanted_rows = 0}).sizes(),
              at::IntArrayRef({2, 0, kind.config.width}));
  }
}

// Chunks through a ring of few keys, so that a window drops some in between.
TEST(WantedRows, ACacheGoesOnAsAfterTheFullPass) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 40, 19, 5);
  for (const Kind& kind : kinds()) {
    const Transformer model = double_model(kind);
    KvCache full(model.plan(), 2), lean(model.plan(), 2);
    for (int64_t first = 0, n = 7; first < 40; first += n, n = 11) {
      const int64_t wanted = first == 0 ? 0 : 2;
      const at::Tensor part = tokens.narrow(1, first, n);
      const at::Tensor all = model.forward(part, {.cache = &full});
      const at::Tensor some = model.forward(part, {.cache = &lean, .wanted_rows = wanted});
      ASSERT_EQ(some.size(1), wanted);
      if (wanted > 0) {
        EXPECT_LE(max_difference(some, last(all, wanted)), kClose)
            << kind.name << " from " << first;
      }
    }
    expect_equal_caches(full, lean, kind.config, kind.name);
  }
}

TEST(WantedRows, OfPaddedRowsAreTheLastTokens) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 9, 19, 5);
  for (const char* mask : {"full", "window:4", "dilated:3x2"}) {
    const Transformer model = make_model(small_config(), "rope", mask, at::kDouble);
    KvCache full(model.plan()), lean(model.plan());
    for (KvCache* each : {&full, &lean}) {
      each->set_padding(at::tensor({0, 5}, at::kLong));
    }
    const at::Tensor all = model.forward(tokens, {.cache = &full});
    const at::Tensor one = model.forward(tokens, {.cache = &lean, .wanted_rows = 1});
    EXPECT_LE(max_difference(one, last(all, 1)), kClose) << mask;
    // And equal the row alone, without padding.
    const at::Tensor alone = model.forward(tokens.narrow(0, 1, 1).narrow(1, 5, 4));
    EXPECT_LE(max_difference(one[1], last(alone, 1)[0]), kClose) << mask;
  }
}

TEST(WantedRows, KnowWhereAPackedDocumentBegins) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(1, 9, 19, 5);
  const at::Tensor first_key = at::tensor({0, 0, 0, 0, 0, 0, 6, 6, 6}, at::kLong).unsqueeze(0);
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  const at::Tensor all = model.forward(tokens, {.first_key = first_key});
  EXPECT_LE(max_difference(model.forward(tokens, {.first_key = first_key, .wanted_rows = 2}),
                           last(all, 2)),
            kClose);
  EXPECT_GT(max_difference(last(all, 2), last(model.forward(tokens), 2)), 1e-3);
}

TEST(WantedRows, ATapSeesEveryToken) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 9, 19, 5);
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  Capture all, some;
  const at::Tensor whole = model.hidden(tokens, {.tap = all.tap()});
  const at::Tensor one = model.hidden(tokens, {.tap = some.tap(), .wanted_rows = 1});
  EXPECT_EQ(max_difference(one, last(whole, 1)), 0.0);
  ASSERT_EQ(some.q.size(), 2U);
  EXPECT_EQ(max_difference(some.q[1], all.q[1]), 0.0);
}

TEST(WantedRows, HaveTheGradientsOfTheFullPass) {
  const at::Tensor tokens = random_tokens(2, 9, 19, 5);
  for (const char* scheme : {"rope", "lerope:share=head"}) {
    const Transformer full = make_model(small_config(), scheme, "full", at::kDouble);
    const Transformer lean = make_model(small_config(), scheme, "full", at::kDouble);
    last(full.forward(tokens), 2).square().sum().backward();
    lean.forward(tokens, {.wanted_rows = 2}).square().sum().backward();
    for (const Parameter& each : full.parameters()) {
      EXPECT_LE(max_difference(lean.parameter(each.name).value.grad(), each.value.grad()),
                1e-9 * std::max(1.0, each.value.grad().abs().max().item<double>()))
          << scheme << " " << each.name;
    }
  }
}

TEST(WantedRows, AreNoMoreThanTheTokens) {
  const Transformer model = make_model(small_config(), "rope");
  for (const int64_t n : {-1, 5}) {
    try {
      model.hidden(random_tokens(1, 4, 19, 3), {.wanted_rows = n});
      FAIL();
    } catch (const c10::ValueError& error) {
      EXPECT_EQ(std::string(error.what_without_backtrace()),
                "transformer: " + std::to_string(n) + " rows are wanted of 4 tokens; give 0 to 4");
    }
  }
}

}  // namespace
}  // namespace gyre::model
