// What is lost without the fast, the middle or the slow third of the rotated pairs: their channels
// of queries and keys are set to 0 in every layer, on three tasks. Every third is zeroed on the
// same rows, so that increases are paired.
//   copy       r1 .. rR r1 .. rR: loss of the second half, needs position or induction
//   retrieval  eight key-value pairs and one key again: loss of the right value among the eight
//   prose      loss of ordinary text
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "gyre/analyze/estimate.h"
#include "gyre/analyze/rows.h"

namespace gyre::analyze {

enum class BandGroup { Fast, Middle, Slow };
inline constexpr std::array<const char*, 3> kGroupNames = {"fast", "middle", "slow"};

/// Losses of one task, row by row or item by item, under one choice of pairs.
struct TaskLosses {
  std::string task;
  int group = -1;  // index into kGroupNames; -1 = all pairs in place
  std::vector<double> loss;
  std::optional<double> accuracy;  // of the retrieval task
};

struct GroupEffect {
  int group = 0;
  double loss = 0.0;
  Estimate increase;  // paired by row or item
  std::optional<double> accuracy;
};

struct TaskEffect {
  std::string task;
  int64_t n = 0;  // rows or items
  double loss = 0.0;
  std::optional<double> accuracy, chance;
  std::vector<GroupEffect> groups;
};

struct GroupPairs {
  int group = 0;
  int64_t n_pairs = 0;                   // per layer
  double shortest = 0.0, longest = 0.0;  // wavelengths over all layers, tokens; inf = at rest
};

struct Ablation {
  std::vector<GroupPairs> groups;
  std::vector<TaskEffect> tasks;
};

inline constexpr std::array<const char*, 3> kTasks = {"copy", "retrieval", "prose"};

/// Which pairs are in a third of a layer, by wavelength; [P] pair indices.
std::vector<size_t> pairs_of_group(const std::vector<double>& wavelength, BandGroup group);

/// A tap that zeroes the channels of a group's pairs in queries and keys of every layer.
model::Tap zero_group(const model::Transformer& model, BandGroup group);

/// One task under one choice of pairs.
TaskLosses run_task(const Subject& subject, const Rows& rows, const AnalyzeOptions& options,
                    const std::string& task, int group);

/// All runs of all tasks together.
Ablation summarize_ablation(const model::Transformer& model, const std::vector<TaskLosses>& runs);

}  // namespace gyre::analyze
