// The run directory: what a training run leaves behind and what every later verb reads back.
// docs/file-formats.md lists the files and keys. A record that is incomplete or does not fit its
// checkpoint is an error that names the field.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "gyre/data/dataset.h"
#include "gyre/model/config.h"
#include "gyre/model/transformer.h"
#include "gyre/position/plan.h"

namespace gyre::train {

/// manifest.json, and the step of the checkpoint that was read with it.
struct RunManifest {
  int64_t train_length = 0;  // T, tokens per training sequence
  std::string scheme;        // scheme spec as given, "name:key=value"
  std::string mask;          // mask spec as given
  position::PositionPlan plan;
  model::ModelConfig model;
  int64_t params = 0;  // alpha included
  int64_t alpha_params = 0;
  std::string tokenizer_kind, tokenizer_hash, corpus_hash;
  data::DataOptions data;
  std::string truncation_policy;
  int64_t seed = 0;
  int64_t batch = 0;   // sequences per step
  int64_t tokens = 0;  // planned for the whole run
  std::string build_revision, machine;
  int64_t threads = 0;
  std::string dtype;  // compute dtype: fp32 | bf16
  int64_t step = 0;   // of the checkpoint; not in manifest.json
};

/// A trained model with its record.
struct Run {
  std::filesystem::path dir;
  RunManifest manifest;
  model::Transformer model;
};

std::string manifest_to_json(const RunManifest& manifest);
/// Error(Format) names `owner` and the field that is missing, unknown or of the wrong type.
RunManifest manifest_from_json(const std::string& text, const std::string& owner);

/// Reads manifest.json and the last complete checkpoint; checks checksums, shapes, counts and plan.
/// The model computes in the manifest's dtype, on `device`.
Run load_run(const std::filesystem::path& dir, at::Device device = at::kCPU);

/// The run's positions for a sequence of `length` tokens: the manifest's plan, or, when that has a
/// length rule, the plan that its scheme makes for this length. Learned alpha is the model's and
/// stays. Error(Format) when the scheme no longer makes the manifest's plan at the training length.
position::PositionPlan plan_at_length(const RunManifest& manifest, int64_t length);

/// Errors name `owner` and the first field of `found` that is missing or differs from `expected`.
void check_same_manifest(const RunManifest& expected, const RunManifest& found,
                         const std::string& owner);

/// The corpus that the run was trained on; Error(Format) when its hashes have changed since.
data::Dataset open_run_dataset(const RunManifest& manifest);

}  // namespace gyre::train
