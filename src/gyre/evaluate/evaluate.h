// Everything `gyre eval` measures on one trained run, and its record eval.json.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "gyre/evaluate/bands.h"
#include "gyre/evaluate/eval_options.h"
#include "gyre/evaluate/length_curve.h"
#include "gyre/evaluate/needle.h"
#include "gyre/evaluate/validation.h"
#include "gyre/train/run_dir.h"

namespace gyre::evaluate {

struct Evaluation {
  std::string corpus_hash, tokenizer_hash;  // of the data evaluated on
  EvalOptions options;
  Validation val;
  std::vector<LengthEntry> lengths;
  std::vector<NeedleCell> needle;
  std::optional<BandReport> bands;
  std::vector<std::string> notes;         // what was shortened, skipped or not finite
  std::map<std::string, double> seconds;  // per part
};

/// Measures a loaded run on a dataset with the run's tokenizer.
///
/// throws  Error(Usage) on bad options, on another tokenizer, on a split that is too short;
///         train::Interrupted after Ctrl-C
Evaluation evaluate(const train::Run& run, const data::Dataset& dataset,
                    const EvalOptions& options);

/// The text of eval.json, schema gyre.eval/1.
std::string to_json(const Evaluation& evaluation, const train::Run& run);

/// Evaluates the run on its own corpus, writes dir/eval.json and returns its text. An eval.json of
/// the same step, options and corpus is returned as it is, unless `force`.
std::string evaluate_run(const std::filesystem::path& dir, const EvalOptions& options,
                         bool force = false, at::Device device = at::kCPU);

}  // namespace gyre::evaluate
