// The head catalogue: each head's role by its scores, and whether heads that attend by position
// alone use the fast pairs more than others do.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gyre/analyze/estimate.h"
#include "gyre/analyze/layer_record.h"

namespace gyre::analyze {

struct HeadEntry {
  int64_t layer = 0, head = 0;
  std::optional<Role> role;  // the highest score, when it reaches the threshold
  double score = 0.0;        // the highest, reached or not
  HeadRecord measured;
  double high_share = 0.0;  // norm share of the fastest quarter of pairs, mean of q and k; NaN
                            // without a rotation
  bool positional() const { return role == Role::Diagonal || role == Role::Previous; }
};

inline constexpr double kStrongHead = 0.9;  // claim R04

struct Catalogue {
  double threshold = 0.0;
  std::vector<HeadEntry> heads;                     // by layer and head
  std::vector<std::array<int64_t, kRoles>> counts;  // [layer][role]
  int64_t n_strong = 0;                  // diagonal or previous with a weight above kStrongHead
  Estimate high_positional, high_other;  // high_share over heads
};

/// What the score of a head says about a role: content counts from its chance level.
double role_strength(const HeadRecord& head, Role role);

Catalogue make_catalogue(const std::vector<LayerRecord>& layers, double threshold);

/// Patterns worth drawing: per role the strongest two of the model, those that reach the threshold
/// or the best one when none does.
struct Example {
  int64_t layer = 0;
  Pattern pattern;
  bool reaches = false;
};
std::vector<Example> strongest_patterns(const std::vector<LayerRecord>& layers, double threshold);

}  // namespace gyre::analyze
