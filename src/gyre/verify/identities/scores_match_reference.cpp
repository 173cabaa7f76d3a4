// Rotation and attention against the float64 reference, over masks, biases, groups and layouts.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Setting {
  const char* name;
  const char* scheme;
  position::MaskSpec mask;
  int64_t n_queries;  // of 23 keys; the rest is a cache
  double logit_scale = 1.0;
};

const Setting kSettings[] = {
    {"full", "rope", {}, 23},
    {"full, interleaved", "rope:layout=interleaved", {}, 23},
    {"partly rotated", "partial", {}, 23},
    {"window 5", "rope", {.window = 5}, 23},
    {"window 5, continued", "rope", {.window = 5}, 4},
    {"continued", "rope", {}, 4},
    {"dilated 3x2, 2 global", "prope:p=0.5", {.window = 3, .dilation = 2, .n_global = 2}, 23},
    {"bias", "alibi", {}, 23},
    {"bias, window 6, continued", "alibi", {.window = 6}, 7},
    {"logit scale 1.5", "nope", {}, 23, 1.5},
};

void check(const Subject& subject, const Setting& setting, Tally& tally) {
  constexpr int64_t kKeys = 23, kDim = 16;
  auto plan = subject.plan(setting.scheme, request_of(kDim, 4, 2));
  position::LayerPlan& layer = plan.layers[0];
  layer.mask = setting.mask;
  layer.logit_scale = setting.logit_scale;
  const Rows q = normal_rows("reference q", {2, 4, kKeys, kDim});
  const Rows k = normal_rows("reference k", {2, 2, kKeys, kDim});
  const Rows v = normal_rows("reference v", {2, 2, kKeys, kDim});
  const auto positions = count_from(0, kKeys);
  attention::ReferenceInput input{q, k, v, positions, positions, plan.layout, layer};
  const Rows expected = attention::reference_attention(input);
  Turned turned = rotated(subject, {q, k}, positions, plan);
  Rows last = zero_rows({2, 4, setting.n_queries, kDim});
  const int64_t first = kKeys - setting.n_queries;
  for (int64_t row = 0; row < 2 * 4; ++row) {
    for (int64_t t = 0; t < setting.n_queries; ++t) {
      for (int64_t d = 0; d < kDim; ++d) {
        last.at(row / 4, row % 4, t, d) = turned.q.at(row / 4, row % 4, first + t, d);
      }
    }
  }
  const Rows out = attended(subject, {last, turned.k, v}, layer);
  for (int64_t row = 0; row < 2 * 4; ++row) {
    for (int64_t t = 0; t < setting.n_queries; ++t) {
      for (int64_t d = 0; d < kDim; ++d) {
        const double deviation =
            std::abs(out.at(row / 4, row % 4, t, d) - expected.at(row / 4, row % 4, first + t, d));
        tally.at_most(deviation, 1e-12, setting.name, ": query ", first + t, " head ", row % 4);
      }
    }
  }
}

CheckResult run(const Subject& subject) {
  Tally tally;
  for (const Setting& setting : kSettings) {
    check(subject, setting, tally);
  }
  return tally.result(str(std::size(kSettings),
                          " settings of scheme, mask, bias and cache; 4 query "
                          "and 2 key heads"));
}

}  // namespace

Identity scores_match_reference() {
  return {"scores-match-reference", "P40, R01", "Attention equals the float64 reference",
          "plain loops of attention/reference.cpp; 1e-12: sums of 23 terms in float64", run};
}

}  // namespace gyre::verify
