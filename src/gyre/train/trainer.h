// One training run in one directory: build, train, watch, save, resume.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "gyre/base/error.h"
#include "gyre/data/dataset.h"
#include "gyre/model/config.h"
#include "gyre/train/train_options.h"

namespace gyre::train {

/// Everything that decides a run. Equal setups on one machine with equal thread counts give equal
/// bits.
struct RunSetup {
  model::ModelConfig model;  // vocab 0 = the tokenizer's
  TrainOptions train;
  data::DataOptions data;
  std::string scheme;  // position scheme spec; needed
  std::string mask = "full";
  at::Device device = at::kCPU;  // where it computes; weights are drawn on the CPU either way
  std::filesystem::path out;     // run directory
  std::string config_json;       // config.json's "options" object with origins; empty = made here
  bool resume = false;           // fail when there is nothing to resume
  bool force = false;            // discard what is in `out`
  bool quiet = false;            // no progress bar
};

/// What train.json holds.
struct RunResult {
  int64_t steps = 0, tokens = 0, params = 0, alpha_params = 0;
  double val_loss = 0.0;  // nats per token
  double tokens_per_s = 0.0;
  double mfu = 0.0;  // model FLOPs per second over the measured matmul peak of the dtype
  double seconds = 0.0;
  double peak_rss_mib = 0.0;
  bool finished_before = false;  // the run was complete already; nothing was computed
};

/// Runs, continues, or reads the result of, the run in setup.out.
///
/// throws  Error(Usage)        another configuration is in `out`; nothing to resume; bad options
///         Error(CheckFailed)  loss not finite or spiking: the diagnosis is in out/failures/
///         Interrupted         Ctrl-C: a checkpoint was saved
RunResult run(const RunSetup& setup);

/// Ctrl-C ended a run after saving it.
class Interrupted : public Error {
 public:
  using Error::Error;
};

std::string result_to_json(const RunResult& result);
RunResult result_from_json(const std::string& text, const std::string& owner);

}  // namespace gyre::train
