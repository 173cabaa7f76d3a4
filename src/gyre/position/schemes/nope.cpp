// No position encoding: order is known only through the causal mask.
#include "gyre/position/schemes/common.h"

namespace gyre::position {
namespace {

struct Options {
  template <class V>
  void fields(V&) {}
};

PositionPlan plan(const Options&, const PlanRequest& request) {
  return unrotated_plan(request);
}

}  // namespace

SchemeInfo nope_scheme() {
  return {
      "nope", "no position encoding: only the causal mask tells order",
      "score_ij = q_i.k_j / sqrt(D), j <= i (Haviv et al. 2022, arXiv:2203.16634; Kazemnejad et "
      "al. 2023, arXiv:2305.19466)",
      []() -> std::unique_ptr<Scheme> { return std::make_unique<SchemeOf<Options, plan>>(); }};
}

}  // namespace gyre::position
