// Layer kinds -> one PositionPlan. Where tables depend on the length, the kind's own settings make
// the table of the length at hand.
#include <algorithm>
#include <optional>

#include "gyre/base/error.h"
#include "gyre/model/load/read_config.h"
#include "gyre/position/scheme.h"

namespace gyre::model {
namespace {

/// What one kind does at one length.
struct KindTable {
  position::LayerPlan layer;
  int64_t holds_to = 0;
};

/// By the settings from which inspect made the kind's table; nothing when they are not enough.
std::optional<KindTable> table_by_spec(const inspect::ResolvedModel& model,
                                       const inspect::LayerKind& kind, int64_t length) {
  if (kind.spec.empty()) {
    return std::nullopt;
  }
  position::PlanRequest request;
  request.n_heads = kind.n_heads;
  request.n_kv_heads = kind.n_kv_heads;
  request.head_dim = kind.head_dim;
  request.train_length = model.original_length > 0 ? model.original_length : model.max_length;
  const auto scheme = position::make_scheme(kind.spec);
  if (scheme->plan(request).layers.at(0).inv_freq != kind.plan.inv_freq) {
    return std::nullopt;
  }
  request.length = length;
  const position::PositionPlan plan = scheme->plan(request);
  KindTable out{kind.plan, plan.holds_to};
  out.layer.inv_freq = plan.layers.at(0).inv_freq;
  out.layer.amplitude = plan.layers.at(0).amplitude;
  return out;
}

KindTable table_of(const inspect::ResolvedModel& model, const inspect::LayerKind& kind,
                   int64_t length) {
  if (kind.length_rule.empty()) {
    return {kind.plan, 0};
  }
  if (const auto table = table_by_spec(model, kind, length); table.has_value()) {
    return *table;
  }
  KindTable out{kind.plan, model.original_length};
  if (length > model.original_length && !kind.long_inv_freq.empty()) {
    out.layer.inv_freq = {kind.long_inv_freq};
    out.layer.amplitude = kind.long_amplitude > 0 ? kind.long_amplitude : kind.plan.amplitude;
    out.holds_to = 0;
  }
  return out;
}

}  // namespace

position::PositionPlan plan_of(const inspect::ResolvedModel& resolved,
                               const ModelSettings& settings, int64_t length) {
  position::PositionPlan plan;
  plan.layout = settings.config.layout;
  plan.head_dim = settings.config.head_dim;
  plan.layers.resize(static_cast<size_t>(settings.config.layers));
  std::vector<bool> seen(plan.layers.size(), false);
  for (const inspect::LayerKind& kind : resolved.kinds) {
    if (kind.rotary_dim > 0) {
      if (plan.rotary_dim > 0 && plan.rotary_dim != kind.rotary_dim) {
        throw Error(Code::Format, resolved.path, ": layers rotate ", plan.rotary_dim, " and ",
                    kind.rotary_dim, " channels, which is not supported");
      }
      plan.rotary_dim = kind.rotary_dim;
    }
    KindTable table = table_of(resolved, kind, length);
    table.layer.logit_scale *= settings.logit_scale;
    table.layer.score_cap = settings.score_cap;
    if (!kind.length_rule.empty()) {
      plan.length_rule = kind.length_rule;
    }
    if (table.holds_to > 0) {
      plan.holds_to = plan.holds_to == 0 ? table.holds_to : std::min(plan.holds_to, table.holds_to);
    }
    for (const int64_t n : kind.layers) {
      plan.layers.at(static_cast<size_t>(n)) = table.layer;
      seen.at(static_cast<size_t>(n)) = true;
    }
  }
  const auto unseen = std::find(seen.begin(), seen.end(), false);
  if (unseen != seen.end()) {
    throw Error(Code::Format, resolved.path, ": layer ", unseen - seen.begin(),
                " has no attention, which is not supported");
  }
  return plan;
}

}  // namespace gyre::model
