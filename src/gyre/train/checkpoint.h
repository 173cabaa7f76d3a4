// Checkpoints: written under a temporary name, synced, renamed; the last two are kept. A checkpoint
// holds all that resuming needs: weights, moments, the step (batches follow from it) and the
// record.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "gyre/model/transformer.h"
#include "gyre/train/optimizer.h"
#include "gyre/train/run_dir.h"

namespace gyre::train {

/// state.json: where the run was.
struct CheckpointState {
  int64_t step = 0;  // updates done; the next batch is batch `step`
  int64_t seed = 0;
  double train_seconds = 0.0;  // spent in training steps so far
  double loss_mean = 0.0;      // of the spike guard
  int64_t loss_count = 0;
  RunManifest manifest;
};

/// Writes run/checkpoints/<step>/ and removes all but the last two.
void save_checkpoint(const std::filesystem::path& run, const CheckpointState& state,
                     const model::Transformer& model, const Optimizer& optimizer);

/// The newest complete checkpoint folder, or an empty path.
std::filesystem::path last_checkpoint(const std::filesystem::path& run);

/// Reads state.json and checks both checksums; Error(Format) names the file and the field.
CheckpointState read_state(const std::filesystem::path& checkpoint);

/// Fills the model (shapes and names must agree exactly) and, when given, the optimizer.
void load_weights(const std::filesystem::path& checkpoint, model::Transformer& model);
void load_optimizer(const std::filesystem::path& checkpoint, int64_t step, Optimizer& optimizer);

}  // namespace gyre::train
