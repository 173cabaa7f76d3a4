// Reports 38 and 42: prompts in chunks, prefixes used again, tokens taken back; whole models.
#include <ATen/ops/cat.h>
#include <c10/core/GradMode.h>

#include "gyre/model/model_testing.h"
#include "gyre/verify/cases/cases_testing.h"

namespace gyre::verify {
namespace {

using model::KvCache;
using model::make_model;
using model::random_tokens;
using model::small_config;
using model::Transformer;

at::Tensor in_chunks(const Transformer& model, const at::Tensor& tokens, int64_t chunk) {
  KvCache cache(model.config().layers);
  std::vector<at::Tensor> parts;
  for (int64_t first = 0; first < tokens.size(1); first += chunk) {
    EXPECT_EQ(cache.length(), first);
    const int64_t n = std::min(chunk, tokens.size(1) - first);
    parts.push_back(model.forward(tokens.narrow(1, first, n), {&cache}));
  }
  return at::cat(parts, 1);
}

// transformers#43082: prompt 1000, chunk 512.
TEST(Case38, PositionsGoOnAcrossChunks) {
  EXPECT_EQ(sound_subject().chunk_positions(1000, 512), count_from(0, 1000));
  EXPECT_EQ(sound_subject().cache_positions(512, 488), count_from(512, 488));
  EXPECT_EQ(faulty_subject("chunk-offset-reset").chunk_positions(1000, 512)[512], 0);
  EXPECT_EQ(faulty_subject("chunk-offset-twice").chunk_positions(1000, 512)[512], 1024);
}

TEST(Case38, LogitsOfAModelEqualThoseOfOnePrefill) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(1, 1000, 19, 4);
  const Transformer model = make_model(small_config(), "rope", "full", at::kDouble);
  const at::Tensor whole = model.forward(tokens);
  EXPECT_LE(model::max_difference(in_chunks(model, tokens, 512), whole), 1e-11);
  // Positions 0 .. 487 again for the second chunk, its keys alone in the cache, are noticed.
  const at::Tensor restarted = model.forward(tokens.narrow(1, 512, 488));
  EXPECT_GE(model::max_difference(restarted, whole.narrow(1, 512, 488)), 1e-3);
}

TEST(Case38, SoDoThoseOfOtherSchemesMasksAndCuts) {
  const c10::NoGradGuard no_grad;
  const at::Tensor tokens = random_tokens(2, 37, 19, 4);
  for (const char* scheme :
       {"rope:layout=interleaved", "alibi", "yarn:factor=4", "irope:chunk=8,floor=4,interval=2",
        "nope_every:interval=2", "gemma3:every=2,window=6", "xpos"}) {
    for (const char* mask : {"full", "window:6", "window:4+global:2/full"}) {
      const Transformer model = make_model(small_config(), scheme, mask, at::kDouble);
      const at::Tensor whole = model.forward(tokens);
      for (const int64_t chunk : {1, 7, 16}) {
        EXPECT_LE(model::max_difference(in_chunks(model, tokens, chunk), whole), 1e-11)
            << scheme << " " << mask << " in chunks of " << chunk;
      }
    }
  }
}

TEST(Case38, TheChecksNoticeBothFaults) {
  for (const Identity& identity : identities()) {
    if (identity.id == "continuation") {
      for (const char* fault : {"chunk-offset-reset", "chunk-offset-twice"}) {
        Subject subject = faulty_subject(fault);
        subject.quick = true;
        EXPECT_FALSE(identity.run(subject).passed) << fault;
      }
      return;
    }
  }
  ADD_FAILURE() << "no check 'continuation'";
}

struct RolledBack {
  std::string mask;
  int64_t n_tokens, n_back;
};

/// Tokens fed, some taken back, others fed: against a run that never saw those taken back.
double rolled_back_difference(const RolledBack& one, bool take_back) {
  const Transformer model = make_model(small_config(), "rope", one.mask, at::kDouble);
  const at::Tensor prompt = random_tokens(1, one.n_tokens, 19, 5),
                   next = random_tokens(1, 5, 19, 6);
  const int64_t kept = one.n_tokens - one.n_back;
  KvCache cache(model.config().layers);
  model.forward(prompt, {&cache});
  if (take_back) {
    cache.truncate(kept);
    EXPECT_EQ(cache.length(), kept);  // the next token's position
  }
  const at::Tensor fresh = model.forward(at::cat({prompt.narrow(1, 0, kept), next}, 1));
  return model::max_difference(model.forward(next, {&cache}), fresh.narrow(1, kept, 5));
}

// Blaizzy/mlx-vlm#1715, mlx-lm#1486: window 8, 12 tokens, 3 back.
TEST(Case42, TheNextPositionIs9AndItsKeysAreThoseOfAFreshRun) {
  const Subject sound = sound_subject(), faulty = faulty_subject("stale-window-cache");
  EXPECT_EQ(sound.cache_positions(12 - 3, 1), std::vector<int64_t>{9});
  EXPECT_EQ(sound.rolled_back(8, 12, 3), count_from(2, 7));  // 2 .. 8, and 9 itself
  const auto stale = faulty.rolled_back(8, 12, 3);           // a ring of 8: 10 and 11 lie at 2, 3
  EXPECT_EQ(stale, (std::vector<int64_t>{10, 11, 4, 5, 6, 7, 8}));
}

TEST(Case42, AModelGoesOnAsIfTheTokensHadNeverBeen) {
  const c10::NoGradGuard no_grad;
  EXPECT_LE(rolled_back_difference({"window:8", 12, 3}, true), 1e-12);
  EXPECT_GE(rolled_back_difference({"window:8", 12, 3}, false), 1e-3);  // not taken back
}

TEST(Case42, UnderOtherMasksAndLengthsToo) {
  const c10::NoGradGuard no_grad;
  for (const RolledBack& one : std::vector<RolledBack>{{"full", 12, 3},
                                                       {"window:8", 30, 7},
                                                       {"window:8", 6, 6},
                                                       {"window:3+global:2", 12, 3},
                                                       {"dilated:3x2", 12, 5},
                                                       {"chunk:4", 12, 3},
                                                       {"window:4/full", 12, 9}}) {
    EXPECT_LE(rolled_back_difference(one, true), 1e-12)
        << one.mask << ", " << one.n_tokens << " tokens, " << one.n_back << " back";
  }
}

TEST(Case42, APrefixUsedTwiceIsAFreshRunBothTimes) {
  const c10::NoGradGuard no_grad;
  const Transformer model = make_model(small_config(), "rope", "window:8", at::kDouble);
  const at::Tensor prompt = random_tokens(1, 12, 19, 5);
  KvCache prefix(model.config().layers);
  model.forward(prompt, {&prefix});
  for (const uint64_t seed : {6, 7}) {
    const at::Tensor next = random_tokens(1, 9, 19, seed);
    KvCache branch = prefix;
    branch.truncate(9);
    const at::Tensor fresh = model.forward(at::cat({prompt.narrow(1, 0, 9), next}, 1));
    EXPECT_LE(model::max_difference(model.forward(next, {&branch}), fresh.narrow(1, 9, 9)), 1e-12);
    EXPECT_EQ(prefix.length(), 12);
  }
}

}  // namespace
}  // namespace gyre::verify
