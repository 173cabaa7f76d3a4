// The whole comparison: plans cells, runs them, reads what they left, writes compare.json.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gyre/data/dataset.h"
#include "gyre/model/config.h"
#include "gyre/study/comparison.h"
#include "gyre/study/folder.h"
#include "gyre/train/train_options.h"

namespace gyre::study {

struct StudySetup {
  std::string title, command;  // texts for the report
  std::vector<Arm> arms;       // the first is what the others are compared with
  std::vector<int64_t> seeds;
  std::string mask = "full";  // of arms without their own
  // The options as the cells will see them, for checks, the forecast and the overhead.
  model::ModelConfig model;  // vocab 0 = the tokenizer's
  train::TrainOptions train;
  data::DataOptions data;
  SharedSettings train_flags;     // flag -> value, handed to every `gyre train`
  SharedSettings eval_flags;      // handed to every `gyre eval`
  std::filesystem::path program;  // gyre itself
  std::filesystem::path out;
  at::Device device = at::kCPU;  // of every cell
  int64_t jobs = 0;     // cells at a time; 0 = one per core, at most one per cell; one on a GPU
  int64_t threads = 0;  // in all; 0 = all cores
  bool force = false;
  double overhead_seconds = 10.0;  // spent on timing each learned arm; 0 = not measured
  double eval_tokens = 170'000;    // cost of evaluating a cell in training tokens, for the forecast
};

/// Runs or continues the comparison in setup.out and writes compare.json there. Failed cells are in
/// the result; the caller decides what they mean.
///
/// throws  Error(Usage)        bad arms or options; another comparison in setup.out
///         Error(CheckFailed)  no cell is complete; the arms are not comparable
///         train::Interrupted  Ctrl-C
Comparison run_study(const StudySetup& setup);

/// The cells in the order they run: by seed, arms after the arms they read.
std::vector<CellPlan> plan_cells(const StudySetup& setup);

}  // namespace gyre::study
