// How many layers information needs under a mask, against measured influence: every token of the
// input of a real stack of attention layers is changed in turn.
#include "gyre/verify/phase.h"
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kTokens = 16, kDim = 8;

// x + attention(x W_q, x W_k, x) layer by layer, rotated, residual path included.
Rows stack(const Subject& subject, const Rows& input, const position::PositionPlan& plan,
           int64_t n_layers) {
  Rows x = input;
  const auto positions = count_from(0, kTokens);
  for (int64_t n = 0; n < n_layers; ++n) {
    const Rows w = normal_rows(str("reach weights ", n), {1, 2, kDim, kDim});
    Rows q = zero_rows({x.n_batch, 1, kTokens, kDim}), k = q;
    for (int64_t row = 0; row < x.n_batch * kTokens; ++row) {
      for (int64_t c = 0; c < kDim; ++c) {
        for (int64_t d = 0; d < kDim; ++d) {
          const double value = 0.02 * x.values[static_cast<size_t>(row * kDim + d)];
          q.values[static_cast<size_t>(row * kDim + c)] += value * w.at(0, 0, d, c);
          k.values[static_cast<size_t>(row * kDim + c)] += value * w.at(0, 1, d, c);
        }
      }
    }
    const Turned turned = rotated(subject, {q, k}, positions, plan, n);
    const Rows y = attended(subject, {turned.q, turned.k, x}, plan.layers[static_cast<size_t>(n)]);
    for (size_t i = 0; i < x.values.size(); ++i) {
      x.values[i] += y.values[i];
    }
  }
  return x;
}

// Copy b of the batch has token b changed; copy kTokens is the original.
Rows changed_copies() {
  const Rows base = normal_rows("reach input", {1, 1, kTokens, kDim});
  Rows out = zero_rows({kTokens + 1, 1, kTokens, kDim});
  for (int64_t b = 0; b <= kTokens; ++b) {
    for (int64_t t = 0; t < kTokens; ++t) {
      for (int64_t d = 0; d < kDim; ++d) {
        out.at(b, 0, t, d) = base.at(0, 0, t, d) + (b == t ? 1.0 : 0.0);
      }
    }
  }
  return out;
}

struct Layers {
  const char* name;
  std::vector<position::MaskSpec> masks;
  int64_t window;  // > 0: layers needed must be ceil(distance / (window - 1))
};

void check(const Subject& subject, const Layers& layers, Tally& tally) {
  const Rows input = changed_copies();
  for (int64_t n = 1; n <= 4; ++n) {
    auto plan = plan_of(geometric(10000.0, kDim / 2, kDim), kDim);
    const position::LayerPlan layer = plan.layers[0];
    plan.layers.assign(static_cast<size_t>(n), layer);
    for (size_t l = 0; l < plan.layers.size(); ++l) {
      plan.layers[l].mask = layers.masks[l % layers.masks.size()];
    }
    const Rows out = stack(subject, input, plan, n);
    for (int64_t i = 0; i < kTokens; ++i) {
      const auto needed = layers_to_reach(layers.masks, i, 8);
      for (int64_t j = 0; j < kTokens; ++j) {
        double influence = 0.0;
        for (int64_t d = 0; d < kDim; ++d) {
          influence = std::max(influence, std::abs(out.at(j, 0, i, d) - out.at(kTokens, 0, i, d)));
        }
        const int64_t layers_needed = j > i ? -1 : needed[static_cast<size_t>(j)];
        if (layers_needed >= 0 && layers_needed <= n) {
          tally.at_least(influence, 1e-14, layers.name, ", ", n, " layers: token ", j, " on ", i);
        } else {
          tally.at_most(influence, 0.0, layers.name, ", ", n, " layers: token ", j, " on ", i);
        }
        if (layers.window > 0 && j <= i) {
          const int64_t formula = (i - j + layers.window - 2) / (layers.window - 1);
          tally.require(layers_needed == formula, layers.name, ": distance ", i - j, " needs ",
                        formula, " layers, searched ", layers_needed);
        }
      }
    }
  }
}

CheckResult run(const Subject& subject) {
  const std::vector<Layers> cases{
      {"window 3", {{.window = 3}}, 3},
      {"window 5", {{.window = 5}}, 5},
      {"dilated 2x3", {{.window = 2, .dilation = 3}}, 0},
      {"window 2 + global 1", {{.window = 2, .n_global = 1}}, 0},
      {"window 2 / full", {{.window = 2}, {}}, 0},
      {"chunk 5", {{.chunk = 5}}, 0},
  };
  Tally tally;
  for (const Layers& one : cases) {
    check(subject, one, tally);
  }
  return tally.result("1 to 4 layers: no influence outside the reach, some everywhere inside");
}

}  // namespace

Identity reach() {
  return {"reach", "P48, P50", "Reach of a mask over layers = measured influence",
          "breadth-first search over the mask; Beltagy et al. 2020, arXiv:2004.05150; exactly 0 "
          "outside",
          run};
}

}  // namespace gyre::verify
