// YaRN: NTK-by-parts as a ramp over the band index, and an amplitude that sharpens attention.
#include "gyre/base/error.h"
#include "gyre/position/schemes/run_frequencies.h"

namespace gyre::position {
namespace {

struct Options : ExtendedOptions {
  double factor = 4.0;
  int64_t original = 0;     // tokens; 0 = the training length
  double beta_fast = 32.0;  // turns
  double beta_slow = 1.0;   // turns
  bool truncate = true;     // gpt-oss sets false
  double mscale = 0.0;      // 0 = not given
  double mscale_all_dim = 0.0;
  double attention_factor = 0.0;  // 0 = not given
  bool mla = false;               // DeepSeek's multi-head latent attention

  template <class V>
  void fields(V& v) {
    ExtendedOptions::fields(v);
    v("factor", factor, "slow frequencies are divided by this; 1 or more");
    v("original", original, "tokens of the original context; 0 = the training length");
    v("beta_fast", beta_fast, "bands with more turns inside the original length are kept");
    v("beta_slow", beta_slow, "bands with fewer turns are divided by factor");
    v("truncate", truncate, "round the ramp's ends outwards to whole pairs");
    v("mscale", mscale, "amplitude m(mscale)/m(mscale_all_dim) when both are given; 0 = not given");
    v("mscale_all_dim", mscale_all_dim, "see mscale and mla; 0 = not given");
    v("attention_factor", attention_factor, "amplitude of rotated q and k; wins; 0 = computed");
    v("mla", mla, "multiply the softmax scale by m(mscale_all_dim)^2, as DeepSeek does");
  }
};

void check(const Options& options) {
  check_factor("yarn", options.factor);
  if (!(options.beta_slow > 0.0 && options.beta_fast >= options.beta_slow)) {
    throw Error(Code::Usage, "yarn: 'beta_fast' must be at least 'beta_slow', got beta_fast ",
                options.beta_fast, " and beta_slow ", options.beta_slow);
  }
  if (!(options.attention_factor >= 0.0)) {
    throw Error(Code::Usage, "yarn: 'attention_factor' must be 0 or more, got ",
                options.attention_factor);
  }
}

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check(options);
  const auto original = static_cast<double>(original_length("yarn", options.original, request));
  PositionPlan plan = unextended_plan("yarn", options, request);
  const RampBounds bounds =
      yarn_ramp_bounds(options.base, plan.rotary_dim,
                       {original, options.beta_fast, options.beta_slow, options.truncate});
  change_bands(plan, [&](const Bands& bands) {
    return yarn_bands(bands, options.factor, options.base, plan.rotary_dim, bounds);
  });
  for (LayerPlan& layer : plan.layers) {
    layer.amplitude = yarn_attention_factor(options.factor, options.mscale, options.mscale_all_dim,
                                            options.attention_factor);
    if (options.mla) {
      layer.logit_scale = yarn_softmax_correction(options.factor, options.mscale_all_dim);
    }
  }
  return plan;
}

}  // namespace

SchemeInfo yarn_scheme() {
  return {
      "yarn", "YaRN: fast bands kept, slow ones divided by factor along a ramp, logits scaled up",
      "low, high = R ln(original/(2 pi beta)) / (2 ln base) at beta_fast, beta_slow, rounded "
      "outwards; t "
      "= clamp((m-low)/(high-low), 0, 1); theta_m = base^(-2m/R) ((1-t) + t/factor); amplitude 0.1 "
      "ln(factor) + 1; from=RUN: m is the index at which the base has the learned theta_m (Peng et "
      "al. 2023, sec. 3, arXiv:2309.00071)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
