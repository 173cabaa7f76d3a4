// Taking tokens back from a cache with a window (prefix reuse, rejected drafts): the next query
// must see the keys that a fresh run would have.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kDim = 16;

Rows chosen(const Rows& rows, const std::vector<int64_t>& tokens) {
  Rows out = zero_rows({1, 1, static_cast<int64_t>(tokens.size()), kDim});
  for (size_t t = 0; t < tokens.size(); ++t) {
    for (int64_t d = 0; d < kDim; ++d) {
      out.at(0, 0, static_cast<int64_t>(t), d) = tokens[t] < 0 ? 0.0 : rows.at(0, 0, tokens[t], d);
    }
  }
  return out;
}

void check(const Subject& subject, int64_t window, int64_t n_tokens, int64_t n_back, Tally& tally) {
  const auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim);
  const Keyed raw{normal_rows("rolled back q", {1, 1, n_tokens, kDim}),
                  normal_rows("rolled back k", {1, 1, n_tokens, kDim}),
                  normal_rows("rolled back v", {1, 1, n_tokens, kDim})};
  const int64_t next = n_tokens - n_back;
  const auto held = subject.rolled_back(window, n_tokens, n_back);
  const auto positions = subject.cache_positions(next, 1);
  const std::string where = str("window ", window, ", ", n_tokens, " tokens, ", n_back, " back");
  tally.require(positions[0] == next, "case 42: ", where, ": next position ", positions[0]);
  // The fresh run: next tokens, then the query, under the window.
  const Turned all = rotated(subject, {raw.q, raw.k}, count_from(0, n_tokens), plan);
  position::LayerPlan layer = plan.layers[0];
  layer.mask.window = window;
  std::vector<int64_t> fresh = count_from(0, next + 1);
  const std::vector<int64_t> query{next};
  const Rows expected =
      attended(subject, {chosen(all.q, query), chosen(all.k, fresh), chosen(raw.v, fresh)}, layer);
  std::vector<int64_t> keys = held;
  keys.push_back(next);
  const Rows out = attended(
      subject, {chosen(all.q, query), chosen(all.k, keys), chosen(raw.v, keys)}, plan.layers[0]);
  tally.at_most(max_difference(out, expected), 1e-13, "case 42: ", where);
}

CheckResult run(const Subject& subject) {
  Tally tally;
  check(subject, 8, 12, 3, tally);
  check(subject, 8, 12, 1, tally);
  check(subject, 8, 30, 7, tally);
  check(subject, 8, 6, 2, tally);
  check(subject, 5, 13, 4, tally);
  return tally.result("window 8, 12 tokens, 3 back: next position 9, keys 2..8");
}

}  // namespace

Identity rolled_back_window() {
  return {"rolled-back-window", "P37, case 42", "Tokens taken back from a window's cache",
          "Blaizzy/mlx-vlm#1715, mlx-lm#1486; fresh run as reference; 1e-13: sums of 16 terms",
          run};
}

}  // namespace gyre::verify
