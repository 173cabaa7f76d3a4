// What a benchmark found: rows of ours against a peer, where the time goes, and the machine. One
// record makes the table, the JSON and the page.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gyre/study/statistics.h"

namespace gyre::bench {

using study::Interval;
using study::kUnknown;

/// One comparison. A side that was not measured is NaN and null in the JSON.
struct Row {
  std::string what;  // "training step, bf16, learned frequencies"
  std::string unit;
  std::string peer_name;  // "eager", "compile", "SDPA"
  double ours = kUnknown, peer = kUnknown;
  double ratio = kUnknown;
  std::string ratio_is;  // "times as fast", "share of the memory", ...
  Interval ci95;         // of the ratio, over rounds
  std::string note;      // why a side is missing; what a process started with
  std::string series;    // "window:512, D 64": rows of one curve
  double x = kUnknown;   // tokens, for curves
  std::vector<double> ours_samples, peer_samples;  // by round
};

/// Time of one operator in a training step of ours.
struct OpShare {
  std::string name;
  double calls = 0.0;                       // per step
  double ms = 0.0;                          // per step, without the operators it calls
  double share = 0.0;                       // of the step
  double gflops = 0.0, gbytes_per_s = 0.0;  // reached; 0 = not known
  double roofline = kUnknown;               // share of what the roofline allows
};

struct Machine {
  std::string cpu;  // model, cores, vector instruction sets
  std::string isa;  // level of gyre's kernels
  std::string torch, build_revision, peer;
  int64_t threads = 0;
  double gbytes_per_s = kUnknown;  // memory bandwidth of a large copy, when it was measured
};

struct Record {
  std::string what;  // train | attention | memory | length
  std::string title, command, date;
  double seconds = 0.0;
  Machine machine;
  std::vector<std::pair<std::string, double>> totals;  // train: tokens_per_s, peak_gflops, ...
  std::vector<Row> rows;
  std::vector<OpShare> profile;
  std::vector<std::string> notes;
};

/// Median of `above` over median of `below`, with a bootstrap interval over rounds (both hold one
/// value per round). NaN without values.
struct Ratio {
  double value = kUnknown;
  Interval ci95;
};
Ratio ratio_of_medians(const std::vector<double>& above, const std::vector<double>& below);
/// Median over pairs of above / below.
Ratio median_of_ratios(const std::vector<double>& above, const std::vector<double>& below);

/// Rows for times: ours and peer in ms by round; the ratio says how many times as fast ours is.
Row time_row(std::string what, std::string peer_name, const std::vector<double>& ours_ms,
             const std::vector<double>& peer_ms);

/// Names the peer ("torch 2.13.0+cpu"), with a note when its torch is another than ours.
void set_peer(Record& record, const std::string& name);

std::string to_json(const Record& record);  // gyre.bench/1
std::string to_text(const Record& record);  // the table

}  // namespace gyre::bench
