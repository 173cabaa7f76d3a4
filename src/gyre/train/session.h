// One pass of a training run: from a fresh start or a checkpoint to the end, a stop, or a failure.
#pragma once

#include <optional>

#include "gyre/base/files.h"
#include "gyre/base/progress.h"
#include "gyre/train/checkpoint.h"
#include "gyre/train/guard.h"
#include "gyre/train/run_record.h"
#include "gyre/train/trainer.h"

namespace gyre::train {

class Session {
 public:
  explicit Session(const RunSetup& setup);
  RunResult run();

 private:
  RunSetup setup_;  // as given; its vocab may be 0
  data::Dataset dataset_;
  model::ModelConfig config_;  // vocab resolved
  model::Transformer model_;
  Optimizer optimizer_;
  data::Batches batches_;
  LossGuard guard_;
  RunManifest manifest_;
  int64_t n_steps_, step_ = 0;
  double train_seconds_ = 0.0, peak_flops_ = 0.0;

  void start();
  void restore(const std::filesystem::path& checkpoint);
  void prepare_files();
  Metric train_step();
  void log_metric(const Metric& metric);
  void save() const;
  [[noreturn]] void fail(const Metric& metric, const std::string& notice);
  [[noreturn]] void stop();
  RunResult finish();
  double mfu() const;
  double tokens_per_s() const;
};

}  // namespace gyre::train
