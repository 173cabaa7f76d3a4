// Which channels form a pair. Scores survive a permutation of q and k alike; they do not survive
// the wrong pairing, unless the layer does not rotate or the distance is 0.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

using position::PairLayout;

// rasbt/LLMs-from-scratch#750: q = 1 2 3 4 at position 1, d 4, base 1e4.
void worked_example(const Subject& subject, Tally& tally) {
  const Rows q = repeated({1.0, 2.0, 3.0, 4.0}, 1);
  const std::vector<std::pair<PairLayout, std::vector<double>>> cases{
      {PairLayout::Halves, {-1.984111, 1.959901, 2.462378, 4.019800}},
      {PairLayout::Interleaved, {-1.142640, 1.922075, 2.959851, 4.029799}}};
  for (const auto& [layout, expected] : cases) {
    const Rows out = rotated(subject, {q, q}, {1}, plan_of(geometric(1e4, 2, 4), 4, layout)).q;
    for (int64_t d = 0; d < 4; ++d) {
      tally.at_most(std::abs(out.at(0, 0, 0, d) - expected[static_cast<size_t>(d)]), 1e-6,
                    "case 22: channel ", d);
    }
  }
}

// Row order of the case, half to interleaved: 0 4 1 5 2 6 3 7.
Rows interleave(const Rows& rows) {
  Rows out = rows;
  const int64_t half = rows.head_dim / 2;
  for (int64_t t = 0; t < rows.n_tokens; ++t) {
    for (int64_t m = 0; m < half; ++m) {
      out.at(0, 0, t, 2 * m) = rows.at(0, 0, t, m);
      out.at(0, 0, t, 2 * m + 1) = rows.at(0, 0, t, m + half);
    }
  }
  return out;
}

double largest(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b,
               bool same_token) {
  double worst = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j <= i; ++j) {
      worst = (i == j) == same_token ? std::max(worst, std::abs(a[i][j] - b[i][j])) : worst;
    }
  }
  return worst;
}

// A partly rotated head: pairs lie in the leading channels, the rest is copied bit for bit.
void partial_head(const Subject& subject, Tally& tally) {
  for (const PairLayout layout : {PairLayout::Halves, PairLayout::Interleaved}) {
    const auto plan = plan_of(geometric(1e4, 2, 4), 16, layout);  // case 9: D 16, 0.25
    const Rows x = normal_rows("partial head", {1, 1, 4, 16});
    const Rows out = rotated(subject, {x, x}, count_from(0, 4), plan).q;
    for (int64_t t = 0; t < 4; ++t) {
      for (int64_t d = 4; d < 16; ++d) {
        tally.at_most(std::abs(out.at(0, 0, t, d) - x.at(0, 0, t, d)), 0.0, "case 9: channel ", d);
      }
      for (int64_t m = 0; m < 2; ++m) {
        const double a = x.at(0, 0, t, x_channel(plan, m)), b = x.at(0, 0, t, y_channel(plan, m));
        const double angle = static_cast<double>(t) * std::pow(100.0, -m);
        tally.at_most(std::abs(out.at(0, 0, t, x_channel(plan, m)) -
                               (a * std::cos(angle) - b * std::sin(angle))),
                      1e-14, "partly rotated head, pair ", m, ", token ", t);
      }
    }
  }
}

CheckResult run(const Subject& subject) {
  constexpr int64_t kTokens = 10, kDim = 16;
  Tally tally;
  worked_example(subject, tally);
  partial_head(subject, tally);
  const auto bands = geometric(1e4, kDim / 2, kDim);
  const auto halves = plan_of(bands, kDim, PairLayout::Halves);
  const auto inter = plan_of(bands, kDim, PairLayout::Interleaved);
  const Rows q = normal_rows("pairing q", {1, 1, kTokens, kDim});
  const Rows k = normal_rows("pairing k", {1, 1, kTokens, kDim});
  const auto positions = count_from(0, kTokens);
  const Turned right = rotated(subject, {q, k}, positions, halves);
  const Turned permuted = rotated(subject, {interleave(q), interleave(k)}, positions, inter);
  const Turned wrong = rotated(subject, {q, k}, positions, inter);
  const Turned one = rotated(subject, {interleave(q), k}, positions, inter);
  const auto scores = dots(right.q, right.k);
  tally.at_most(largest(scores, dots(permuted.q, permuted.k), false), 1e-13,
                "case 26: q and k permuted alike, other layout");
  tally.at_least(largest(scores, dots(wrong.q, wrong.k), false), 0.1, "case 22: wrong pairing");
  tally.at_least(largest(scores, dots(one.q, one.k), false), 0.1, "one side permuted");
  // tensai#57: what hides the mistake
  tally.at_most(largest(scores, dots(wrong.q, wrong.k), true), 1e-13, "distance 0 hides it");
  position::PositionPlan still = halves;
  still.layers[0].inv_freq.clear();
  const Turned unrotated = rotated(subject, {q, k}, positions, still);
  const Turned moved = rotated(subject, {interleave(q), interleave(k)}, positions, still);
  tally.at_most(largest(dots(unrotated.q, unrotated.k), dots(moved.q, moved.k), false), 1e-13,
                "case 23: a layer without rotation hides it");
  return tally.result(
      str("wrong pairing moves a score by ", largest(scores, dots(wrong.q, wrong.k), false)));
}

}  // namespace

Identity pairing() {
  return {"pairing", "P12, cases 9, 22, 23, 26", "Which channels form a pair",
          "rasbt/LLMs-from-scratch#750, mattn/tensai#57, transformers#39687; 1e-13: 16 terms", run};
}

}  // namespace gyre::verify
