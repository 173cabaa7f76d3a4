// Every arm against the first: paired differences in validation loss with two kinds of interval.
// Over seeds: what training again would give. Over blocks: what other validation text would give
// for these very models.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gyre/study/statistics.h"

namespace gyre::study {

struct SeedLoss {
  int64_t seed = 0;
  double loss = kUnknown;      // nats per token
  std::vector<double> blocks;  // of the same text in every run
};

struct ArmLosses {
  std::string name;
  std::vector<SeedLoss> runs;
};

struct PairResult {
  std::string a, b;
  std::vector<int64_t> seeds;  // that both arms have
  std::vector<double> deltas;  // loss(b) - loss(a) per seed
  double delta = kUnknown;     // their mean
  double sd_seeds = kUnknown;  // of the differences of this pair alone
  std::string interval_over;   // "seeds" | "seeds, pooled sd"; "" with one seed
  double sd_used = kUnknown;   // behind ci95 and p
  double df = 0;
  Interval ci95, ci95_unpooled, ci95_blocks;
  double p = kUnknown, p_unpooled = kUnknown, p_holm = kUnknown, p_blocks = kUnknown;
  double p_sign = kUnknown;
  int64_t n_blocks = 0;
  std::optional<int64_t> seeds_needed;
  std::string verdict;  // "better" | "worse" | "no difference seen"; of b
};

/// One result per arm after the first that shares a seed with it.
std::vector<PairResult> compare_pairs(const std::vector<ArmLosses>& arms);

/// The rule of `verdict` in words, for reports.
std::string verdict_rule();

/// Share of the gain of `best` over `reference` that `other` has, with a bootstrap interval over
/// blocks (L36: (L_reference - L_other) / (L_reference - L_best)). `known` only when the gain
/// itself is above zero over blocks.
struct GainShare {
  std::string arm, of;
  double share = kUnknown;
  Interval ci95;
  int64_t n_blocks = 0;
  bool known() const { return share == share; }
};
GainShare share_of_gain(const ArmLosses& reference, const ArmLosses& best, const ArmLosses& other);

}  // namespace gyre::study
