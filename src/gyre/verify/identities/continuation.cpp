// One pass, chunked prefill of any split and token-by-token decoding give the same outputs, with
// positions and cached keys as the subject has them.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kTokens = 29, kHeads = 4, kGroups = 2, kDim = 16;

Rows tokens_of(const Rows& rows, int64_t first, int64_t n) {
  Rows out = zero_rows({1, rows.n_heads, n, rows.head_dim});
  for (int64_t h = 0; h < rows.n_heads; ++h) {
    for (int64_t t = 0; t < n; ++t) {
      for (int64_t d = 0; d < rows.head_dim; ++d) {
        out.at(0, h, t, d) = rows.at(0, h, first + t, d);
      }
    }
  }
  return out;
}

void put(Rows& into, const Rows& part, int64_t first) {
  for (int64_t h = 0; h < part.n_heads; ++h) {
    for (int64_t t = 0; t < part.n_tokens; ++t) {
      for (int64_t d = 0; d < part.head_dim; ++d) {
        into.at(0, h, first + t, d) = part.at(0, h, t, d);
      }
    }
  }
}

// Prefill of n_prompt tokens in chunks, then decoding one by one; keys are rotated as they arrive.
Rows in_pieces(const Subject& subject, const Keyed& raw, const position::PositionPlan& plan,
               int64_t n_prompt, int64_t chunk) {
  const auto prompt = subject.chunk_positions(n_prompt, chunk);
  Rows cache = zero_rows({1, kGroups, kTokens, kDim}), out = zero_rows({1, kHeads, kTokens, kDim});
  for (int64_t first = 0; first < kTokens;) {
    const bool decoding = first >= n_prompt;
    const int64_t n = decoding ? 1 : std::min(chunk, n_prompt - first);
    const auto positions =
        decoding ? subject.cache_positions(first, 1)
                 : std::vector<int64_t>(prompt.begin() + first, prompt.begin() + first + n);
    const Turned turned =
        rotated(subject, {tokens_of(raw.q, first, n), tokens_of(raw.k, first, n)}, positions, plan);
    put(cache, turned.k, first);
    put(out,
        attended(subject,
                 {turned.q, tokens_of(cache, 0, first + n), tokens_of(raw.v, 0, first + n)},
                 plan.layers[0]),
        first);
    first += n;
  }
  return out;
}

CheckResult run(const Subject& subject) {
  const Keyed raw{normal_rows("continuation q", {1, kHeads, kTokens, kDim}),
                  normal_rows("continuation k", {1, kGroups, kTokens, kDim}),
                  normal_rows("continuation v", {1, kGroups, kTokens, kDim})};
  Tally tally;
  for (const char* scheme : {"rope", "prope:p=0.5", "alibi"}) {
    for (const char* mask : {"full", "window:6", "dilated:3x2", "window:4+global:2"}) {
      auto plan = subject.plan(scheme, request_of(kDim, kHeads, kGroups));
      plan.layers[0].mask = position::parse_masks(mask, 1)[0];
      const Turned turned = rotated(subject, {raw.q, raw.k}, count_from(0, kTokens), plan);
      const Rows whole = attended(subject, {turned.q, turned.k, raw.v}, plan.layers[0]);
      for (const auto& [n_prompt, chunk] : {std::pair<int64_t, int64_t>{kTokens, 5},
                                            {kTokens, 8},
                                            {kTokens, 1},
                                            {17, 17},
                                            {17, 4}}) {
        const Rows pieces = in_pieces(subject, raw, plan, n_prompt, chunk);
        tally.at_most(max_difference(pieces, whole), 1e-12, scheme, " ", mask, ": prompt ",
                      n_prompt, " in chunks of ", chunk);
      }
    }
  }
  const auto ids = subject.chunk_positions(1000, 512);  // transformers#43082
  for (int64_t i = 0; i < 1000; ++i) {
    tally.require(ids[static_cast<size_t>(i)] == i, "case 38: token ", i, " has position ",
                  ids[static_cast<size_t>(i)]);
  }
  return tally.result("3 schemes x 4 masks x 5 ways to cut 29 tokens; 1000 tokens by 512: 0..999");
}

}  // namespace

Identity continuation() {
  return {"continuation", "P15, P36, P55, case 38",
          "One pass = chunked prefill = decoding with a cache",
          "one pass as reference; transformers#43082; 1e-12: sums of 29 terms in float64", run};
}

}  // namespace gyre::verify
