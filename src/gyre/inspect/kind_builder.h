// From rope settings to a LayerKind: rotated width, the position scheme's spec, and the plan that
// the scheme itself builds, so that every number comes from one implementation.
#pragma once

#include "gyre/inspect/rope_settings.h"

namespace gyre::inspect {

/// Sizes of the whole model; 0 = unknown.
struct ModelSizes {
  int64_t layers = 0, hidden = 0, heads = 0, kv_heads = 0;
  int64_t max_position = 0;
};

/// Appends what was ignored to `ignored`. `original` gets the length before extension when the
/// settings state it.
LayerKind build_kind(ConfigReader& config, const LayerGroup& group, const ModelSizes& sizes,
                     std::vector<IgnoredKey>& ignored, int64_t& original);

/// Fills kind.plan, layout, length_rule, long_inv_freq from kind.spec; head_dim, rotary_dim,
/// n_heads and n_kv_heads are set. `original`: tokens, 0 = unknown; `longest`: the longest sequence
/// to plan for, 0 = none beyond `original`. Error(Usage) when the scheme refuses the options.
void fill_plan(LayerKind& kind, int64_t original, int64_t longest);

}  // namespace gyre::inspect
