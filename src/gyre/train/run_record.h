// config.json, train.json, metric and frequency lines: the small files of a run directory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gyre/train/optimizer.h"
#include "gyre/train/trainer.h"

namespace gyre::train {

/// Every option that decides the run, group -> flag -> value, as JSON text.
std::string setup_to_json(const RunSetup& setup);

/// Writes config.json with origins when the caller knows them.
void write_config(const RunSetup& setup);

/// Error(Usage) naming the first option whose value differs from the config.json of an earlier
/// start. Options that do not change the result (log and checkpoint intervals) may differ.
void check_same_config(const RunSetup& setup, const std::filesystem::path& config_file);

/// A line of metrics.jsonl.
struct Metric {
  int64_t step = 0, tokens = 0;
  double loss = 0.0, lr = 0.0;
  StepNorms norms;
  double step_ms = 0.0, tokens_per_s = 0.0;
};
std::string metric_line(const Metric& metric);

/// A line of frequencies.jsonl.
std::string frequency_line(int64_t step, const model::Transformer& model);

/// Drops lines of a JSON-lines file whose step is beyond `step`: what a stopped run logged after
/// its last checkpoint will be logged again.
void truncate_lines(const std::filesystem::path& file, int64_t step);

/// Writes failures/step-<n>.json and returns its path.
std::filesystem::path write_failure(const std::filesystem::path& run, const Metric& metric,
                                    const std::string& notice, double running_mean);

}  // namespace gyre::train
