// Everything `gyre analyze` measures on one model, and its folder: parts that are done are kept, so
// that a stopped run goes on and a second one adds what it asks for.
//   settings.json  what decides the results     layers.jsonl   one line per layer
//   tasks.jsonl    one line per task and group  spectrum.json  the gradient signal
//   analyze.json   all results                  report.html, figures/*.csv  made from them
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gyre/analyze/ablation.h"
#include "gyre/analyze/catalogue.h"
#include "gyre/analyze/findings.h"
#include "gyre/analyze/layer_record.h"
#include "gyre/analyze/options.h"
#include "gyre/analyze/positions.h"
#include "gyre/analyze/rows.h"
#include "gyre/analyze/spectrum.h"
#include "gyre/analyze/usage.h"

namespace gyre::analyze {

struct Shape {
  int64_t layers = 0, heads = 0, kv_heads = 0, head_dim = 0, pairs = 0, vocab = 0, parameters = 0;
  std::string layout;
};

struct Analysis {
  std::string model;
  Shape shape;
  int64_t train_length = 0;  // tokens
  AnalyzeOptions options;
  std::vector<Domain> domains;
  std::vector<LayerRecord> layers;
  Usage usage;
  Catalogue catalogue;
  std::optional<Positions> positions;  // none when nothing rotates
  std::optional<Ablation> ablation;    // none when not asked for, or nothing rotates
  std::optional<Spectrum> spectrum;
  std::vector<Finding> findings;
  std::vector<std::string> notes;
  std::vector<std::vector<std::string>> row_tokens;  // first of text, repeat, alphabet: as text
  std::map<std::string, double> seconds;             // per part, of all runs
};

struct AnalyzeSetup {
  const Subject& subject;
  std::vector<Text> texts;  // beside the built-in ones
  AnalyzeOptions options;
  std::filesystem::path out;
  bool force = false;
};

/// Runs what is missing in setup.out and writes analyze.json.
///
/// throws  Error(Usage) on bad options, short texts, another configuration in `out`;
///         train::Interrupted after Ctrl-C: what is done is kept
Analysis analyze(const AnalyzeSetup& setup);

/// The text of analyze.json, schema gyre.analyze/1.
std::string to_json(const Analysis& analysis);

/// The findings and the numbers behind them, for a terminal.
std::string to_text(const Analysis& analysis);

}  // namespace gyre::analyze
