// eval.json: whether an old one answers the same question, and the table of one for a terminal.
#pragma once

#include <string>
#include <string_view>

#include "gyre/evaluate/eval_options.h"
#include "gyre/train/run_dir.h"

namespace gyre::evaluate {

/// Same schema, step, corpus and options; false on text that is no eval.json.
bool same_evaluation(std::string_view eval_json, const train::Run& run,
                     const std::string& corpus_hash, const EvalOptions& options);

/// A few lines: validation, lengths, needle, dominant band, notes.
std::string eval_table(std::string_view eval_json);

}  // namespace gyre::evaluate
