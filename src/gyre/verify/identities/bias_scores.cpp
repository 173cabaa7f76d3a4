// ALiBi: s_ij = q_i.k_j / sqrt(d) - m_h (i - j), the bias added after scaling and not scaled;
// slopes, scale and convention survive being stored.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

constexpr int64_t kHeads = 6, kTokens = 17, kDim = 8;

void scores(const Subject& subject, Tally& tally) {
  auto plan = subject.plan("alibi", request_of(kDim, kHeads, 3));
  position::LayerPlan& layer = plan.layers[0];
  layer.logit_scale = 0.7;
  const Turned raw{normal_rows("bias q", {1, kHeads, kTokens, kDim}),
                   normal_rows("bias k", {1, 3, kTokens, kDim})};
  const Rows weights = weights_of(subject, raw, layer);
  for (int64_t h = 0; h < kHeads; ++h) {
    for (int64_t i = 0; i < kTokens; ++i) {
      std::vector<double> row;
      double sum = 0.0;
      for (int64_t j = 0; j <= i; ++j) {
        double dot = 0.0;
        for (int64_t d = 0; d < kDim; ++d) {
          dot += raw.q.at(0, h, i, d) * raw.k.at(0, h / 2, j, d);
        }
        row.push_back(std::exp(0.7 * dot / std::sqrt(double{kDim}) -
                               layer.slopes[static_cast<size_t>(h)] * static_cast<double>(i - j)));
        sum += row.back();
      }
      for (int64_t j = 0; j < kTokens; ++j) {
        const double expected = j <= i ? row[static_cast<size_t>(j)] / sum : 0.0;
        tally.at_most(std::abs(weights.at(0, h, i, j) - expected), 1e-13, "weight of head ", h,
                      ", query ", i, ", key ", j);
      }
    }
  }
}

// attention-gym#86: slope .5, q = 10, k = 0 has bias -5: read back from two equal scores.
void sign(const Subject& subject, Tally& tally) {
  position::LayerPlan layer;
  layer.slopes = {0.5};
  const Rows still = zero_rows({1, 1, 11, 11});
  const Rows weights = weights_of(subject, {still, still}, layer);
  const double bias = std::log(weights.at(0, 0, 10, 0) / weights.at(0, 0, 10, 10));
  tally.at_most(std::abs(bias + 5.0), 1e-12, "case 34: bias of key 0 at query 10");
}

void storage(const Subject& subject, Tally& tally) {
  for (const char* spec : {"alibi", "alibi:slopes=geometric"}) {
    auto plan = subject.plan(spec, request_of(kDim, kHeads));
    plan.layers[0].logit_scale = 1.25;
    const auto read = position::plan_from_json(position::plan_to_json(plan), "stored plan");
    tally.require(read == plan, spec, ": slopes, scale and convention read back exactly");
    tally.require(!read.slope_convention.empty(), spec, ": the convention is stored");
  }
}

CheckResult run(const Subject& subject) {
  Tally tally;
  scores(subject, tally);
  sign(subject, tally);
  storage(subject, tally);
  return tally.result("6 heads, 17 tokens, every weight; slopes, scale and convention stored");
}

}  // namespace

Identity bias_scores() {
  return {"bias-scores", "P04, case 34", "Linear bias: score, sign and storage",
          "Press et al. 2022, sec. 3, arXiv:2108.12409; attention-gym#86; 1e-13: 17 exponentials",
          run};
}

}  // namespace gyre::verify
