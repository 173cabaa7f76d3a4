// The result of a study as plain values, in the order of compare.json (docs/file-formats.md), and
// how it is put together from the records of finished cells. Everything here is a pure function.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gyre/study/arms.h"
#include "gyre/study/cells.h"
#include "gyre/study/pairs.h"
#include "gyre/study/record.h"

namespace gyre::study {

struct Curve {
  int64_t seed = 0;
  std::vector<int64_t> step;
  std::vector<double> loss;
};

struct ArmSummary {
  std::string name, scheme, mask;
  int64_t params = 0, alpha_params = 0, n_seeds = 0;
  double val_loss_mean = kUnknown, val_loss_sd = kUnknown, ppl = kUnknown, bits_per_byte = kUnknown;
  double tokens_per_s = kUnknown, peak_rss_mib = kUnknown;
  std::vector<Curve> curves;
  std::vector<PositionLoss> positions;
};

struct LengthPoint {
  std::string arm, windows;
  int64_t length = 0, n_seeds = 0;
  double loss = kUnknown, sd = kUnknown;
};

struct NeedlePoint {
  std::string arm;
  int64_t distractors = 0, n = 0;
  double accuracy = kUnknown, chance = kUnknown;
  Interval ci95;
  double no_evidence_accuracy = kUnknown, worst_bucket_accuracy = kUnknown;
};

struct TrajectoryPoint {
  int64_t step = 0;
  std::vector<double> wavelength;  // tokens; infinite where a pair stands still
};

struct FrequencyUse {
  std::string arm;
  int64_t seed = 0;
  std::vector<double> initial, final;  // inv_freq per pair, rad per token
  std::vector<TrajectoryPoint> trajectory;
  Bands bands;
  std::vector<int64_t> suppressed_initial;  // phase under 0.05 turn at the training length
  bool learned = false;
};

/// Do the runs of one learned arm agree on their dominant band (L34)?
struct BandConsistency {
  std::string arm;
  int64_t n_runs = 0, band = 0;         // the most common dominant band
  double same_band = kUnknown;          // share of runs with it
  double near_median = kUnknown;        // share with a wavelength within 10 % of the median
  double over_train_length = kUnknown;  // median
};

struct Overhead {
  std::string arm, against;
  int64_t extra_params = 0, n_pairs = 0;
  double step_time_ratio = kUnknown;
  Interval ci95;  // of the step time ratio
  double peak_rss_ratio = kUnknown;
  Interval peak_rss_ci95;
  int64_t n_seeds = 0;  // behind the memory ratio
};

struct Quoted {
  std::string what;
  std::string value;  // a number or text
  std::string unit, source, licence, ours;
};

struct SourceNote {
  std::string claim, text, source;
};

struct CellLine {
  std::string arm, status, dir, error;
  int64_t seed = 0;
  double seconds = 0;
};

struct Settings {
  int64_t tokens = 0, length = 0, batch = 0, params = 0;
  std::vector<int64_t> seeds;
  std::vector<std::string> data;
  std::string corpus_hash, tokenizer, model_json;
};

struct Comparison {
  std::string title, command, build_revision, machine, date;
  double seconds = 0;
  Settings settings;
  std::vector<ArmSummary> arms;
  std::vector<PairResult> pairs;
  std::vector<LengthPoint> length_curve;
  std::vector<NeedlePoint> needle;
  std::vector<FrequencyUse> frequencies;
  std::vector<BandConsistency> consistency;
  std::vector<GainShare> gain_shares;
  std::vector<Overhead> overhead;
  std::vector<Quoted> quoted;
  std::vector<CellLine> cells;
  std::vector<std::string> verdict, cannot_resolve, limits;
  std::vector<SourceNote> sources;

  const ArmSummary* find_arm(const std::string& name) const;
  const PairResult* find_pair(const std::string& arm) const;
  bool any_failed() const;
};

/// Cells of one study: what was asked, what came of it, and the records of those that are complete.
struct StudyCells {
  std::vector<Arm> arms;
  std::vector<int64_t> seeds;
  std::vector<CellPlan> plans;
  std::vector<CellResult> results;  // by plan
  std::vector<CellRecord> records;
  std::filesystem::path out;  // cells' folders are given relative to it
};

/// Checks that the comparison is fair (check_comparable) and fills everything that the records
/// decide: settings to gain_shares, cells. Texts and overhead come later.
///
/// throws  Error(CheckFailed) when the arms differ in more than positions or no cell is complete
Comparison summarize(const StudyCells& study);

/// compare.json: schema gyre.compare/1.
std::string to_json(const Comparison& comparison);

/// A result for the terminal, 100 columns wide.
std::string to_table(const Comparison& comparison);

/// Fills verdict, cannot_resolve, limits, sources and quoted from the numbers (words.cpp,
/// quoted.cpp).
void add_words(Comparison& comparison);
void add_quoted(Comparison& comparison);

}  // namespace gyre::study
