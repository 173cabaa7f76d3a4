#include "gyre/evaluate/models_by_length.h"

namespace gyre::evaluate {

const model::Transformer& ModelsByLength::at(int64_t length) {
  const position::PositionPlan& own = run_.manifest.plan;
  if (own.length_rule.empty() || length == run_.manifest.train_length) {
    return run_.model;
  }
  const auto found = others_.find(length);
  if (found != others_.end()) {
    return found->second;
  }
  return others_.emplace(length, run_.model.with_plan(train::plan_at_length(run_.manifest, length)))
      .first->second;
}

}  // namespace gyre::evaluate
