// compare.json as plain values, in the order of docs/file-formats.md. A number that is null in the
// file is NaN here and prints as a dash.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre::report {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

struct Interval {
  double lo = kUnknown;
  double hi = kUnknown;
};

struct Curve {
  int64_t seed = 0;
  std::vector<double> step;
  std::vector<double> loss;  // nats per token
};

struct PositionLoss {
  double begin = 0;  // tokens
  double end = 0;
  double loss = kUnknown;
};

struct Arm {
  std::string name, scheme, mask;
  int64_t params = 0, alpha_params = 0, n_seeds = 0;
  double val_loss_mean = kUnknown, val_loss_sd = kUnknown, ppl = kUnknown;
  double bits_per_byte = kUnknown, tokens_per_s = kUnknown, peak_rss_mib = kUnknown;
  std::vector<Curve> curves;
  std::vector<PositionLoss> positions;
};

struct Pair {
  std::string a, b, interval_over, verdict;
  double delta_nats = kUnknown, sd_seeds = kUnknown;
  Interval ci95, ci95_blocks;
  int64_t n_seeds = 0, n_blocks = 0;
  double p_value = kUnknown, p_value_blocks = kUnknown;
  double p_value_holm = kUnknown;  // optional key: corrected for the number of arms
  std::optional<int64_t> seeds_needed;
};

struct LengthPoint {
  std::string arm, windows;  // windows: disjoint | sliding
  double length = 0, loss = kUnknown, sd = kUnknown;
  int64_t n_seeds = 0;
};

struct NeedlePoint {
  std::string arm;
  int64_t distractors = 0, n = 0;
  double accuracy = kUnknown, chance = kUnknown;
  Interval ci95;
  double no_evidence_accuracy = kUnknown, worst_bucket_accuracy = kUnknown;
};

struct Dominant {
  int64_t band = 0;
  double wavelength = kUnknown, over_train_length = kUnknown, ratio = kUnknown;
};

struct TrajectoryPoint {
  double step = 0;
  std::vector<double> wavelength;  // tokens, per pair; NaN or infinite where a pair stands still
};

struct Frequencies {
  std::string arm;
  int64_t seed = 0, gathered = 0;
  bool learned = false;
  std::vector<double> initial, final;  // inv_freq per pair, rad per token
  std::vector<TrajectoryPoint> trajectory;
  std::optional<Dominant> dominant;
  std::vector<int64_t> suppressed;
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
  std::string what, value, unit, source, licence;
  std::string ours;  // optional key: the value of this comparison, when it measured the like
};

struct Cell {
  std::string arm, status, dir, error;
  int64_t seed = 0;
  double seconds = kUnknown;
};

struct Source {
  std::string claim, text, source;
};

struct Settings {
  int64_t tokens = 0, length = 0, batch = 0, params = 0;
  std::vector<std::string> seeds, data;
  std::string corpus_hash, tokenizer;
  std::vector<std::pair<std::string, std::string>> model;
};

struct Comparison {
  std::string title, command, build_revision, machine, date;
  std::string verdict_rule;  // optional key: when a pair counts as better or worse
  double seconds = kUnknown;
  Settings settings;
  std::vector<Arm> arms;
  std::vector<Pair> pairs;
  std::vector<LengthPoint> length_curve;
  std::vector<NeedlePoint> needle;
  std::vector<Frequencies> frequencies;
  std::vector<Overhead> overhead;
  std::vector<Quoted> quoted;
  std::vector<Cell> cells;
  std::vector<std::string> verdict, cannot_resolve, limits;
  std::vector<Source> sources;

  /// Place in the list of arms, which fixes colour and symbol everywhere; -1 for an unknown name.
  int arm_index(std::string_view name) const;
};

/// Parses the text of compare.json. `origin` (its path) opens every message.
Comparison parse_comparison(std::string_view text, const std::string& origin);

}  // namespace gyre::report
