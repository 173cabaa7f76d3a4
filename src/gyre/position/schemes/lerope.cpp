// Learned rotary frequencies in log form: theta_m = exp(alpha_m) base^(-2m/D), alpha 0 at start, so
// that the first step equals RoPE's. The plan holds the frequencies at alpha = 0 and how to train
// it.
#include "gyre/base/error.h"
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

enum class Share { All, Layer, Head };

}  // namespace
}  // namespace gyre::position

template <>
struct gyre::EnumNames<gyre::position::Share> {
  static constexpr std::pair<gyre::position::Share, const char*> list[] = {
      {gyre::position::Share::All, "all"},
      {gyre::position::Share::Layer, "layer"},
      {gyre::position::Share::Head, "head"}};
};

namespace gyre::position {
namespace {

struct Options {
  double base = 10000.0;
  Share share = Share::All;
  // Neither value is published. Adam moves alpha by about lr a step whatever the gradient's scale;
  // moving a band out of the window takes 3-5 nats, so lr * steps has to exceed that. 0.02 gave a
  // loss spike in the first steps of the default study and 0.03 nats more at its end than 0.005.
  double lr = 5e-3;
  double clip = 1.0;
  PairLayout layout = PairLayout::Unstated;

  template <class V>
  void fields(V& v) {
    v("base", base, "band m starts at base^(-2m/D) rad per token");
    v("share", share,
      "one alpha per pair for: all layers and heads, each layer, each key/value head");
    v("lr", lr, "peak learning rate of alpha, nats per step");
    v("clip", clip, "largest norm of alpha's own gradient; 0 = no clipping");
    v("layout", layout,
      "channels of a pair: interleaved (0,1) or halves (0,D/2); unstated = the model\'s");
  }
};

Sharing sharing_of(Share share) {
  switch (share) {
    case Share::Layer:
      return Sharing::Layer;
    case Share::Head:
      return Sharing::Head;
    case Share::All:
      break;
  }
  return Sharing::All;
}

PositionPlan plan(const Options& options, const PlanRequest& request) {
  check_base("lerope", options.base);
  check_head_dim("lerope", request);
  if (!(options.lr >= 0.0)) {
    throw Error(Code::Usage, "lerope: 'lr' must be 0 or more, got ", options.lr);
  }
  if (!(options.clip >= 0.0)) {
    throw Error(Code::Usage, "lerope: 'clip' must be 0 or more, got ", options.clip);
  }
  const int64_t groups = options.share == Share::Head ? request.n_kv_heads : 1;
  PositionPlan plan =
      rotary_plan(request, options.layout,
                  geometric_bands(options.base, request.head_dim / 2, request.head_dim), groups);
  plan.learning = {sharing_of(options.share), options.lr, options.clip};
  return plan;
}

}  // namespace

SchemeInfo lerope_scheme() {
  return {
      "lerope", "LeRoPE: RoPE whose frequencies are trained with the model, in log form",
      "theta_m = exp(alpha_m) base^(-2m/D), alpha_m = 0 at start; own learning rate and clip, no "
      "weight decay (Karypis et al. 2026, arXiv:2607.10134)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
