// The result of an acceptance run as plain values: what accept.json, the page, JUnit and the
// terminal show. The three levels are never summed into one score.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/calibration.h"
#include "gyre/accept/findings.h"
#include "gyre/accept/item.h"
#include "gyre/accept/options.h"
#include "gyre/accept/statistics.h"

namespace gyre::accept {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

/// One prompt length of level 1 through one endpoint.
struct Rung {
  int64_t length = 0;  // aimed at
  Api api = Api::Chat;
  int64_t predicted = 0;              // tokens
  std::optional<int64_t> reported;    // by usage
  std::vector<int> stripes;           // 16: 1 its code came back, 0 it did not, -1 not known
  std::vector<int> read;              // 16, influence: 1 read, 0 not read, -1 not probed
  Status status = Status::NotRun;     // whole text kept?
  std::string says;                   // "stripes 1-7 lost", "refused: ..."
  std::vector<std::string> evidence;  // sids
};

struct Window {
  std::optional<int64_t> fits;            // longest length that was wholly kept, tokens
  std::optional<int64_t> fails;           // shortest above it that was not
  std::optional<int64_t> after_overflow;  // tokens that stay of a longer one
  std::string source;                     // usage | error message | roll call | influence
};

/// Repeats at 1, 2 and 4 in flight.
struct ConcurrencyRow {
  int64_t in_flight = 1, asked = 0, ok = 0, faults = 0;
  std::vector<std::string> evidence;
};

struct LevelOne {
  bool ran = false;
  bool able = false;            // reads the roll call back at the original length
  double flip_rate = kUnknown;  // answers that changed between equal requests
  std::optional<Api> only;  // the one endpoint that is served, where the other was tried in vain
  std::vector<Rung> rungs;
  Window window;
  std::vector<ConcurrencyRow> concurrency;
  std::string client_options;  // "", or what is known of the effect of --send
};

struct BucketResult {
  int64_t n = 0, correct = 0, errors = 0;  // errors are in n: they count as failures
  double lower = 0.0, upper = 1.0;         // simultaneous one-sided bounds
};

/// One cell of levels 2 and 3: a task at a length with one setting of its dials.
struct Cell {
  int64_t level = 2;
  std::string task;  // needle | plain | join | sum | chain | contradiction
  std::string arm = "main";
  int64_t length = 0;
  std::map<std::string, std::string> dials;
  std::vector<BucketResult> buckets;        // by position of the evidence, 5; controls: one
  std::map<std::string, int64_t> verdicts;  // "ok": 70, "distractor": 3, ...
  int64_t planned = 0, asked = 0, answered = 0, correct = 0;
  Status status = Status::NotRun;
  int64_t needs_about = 0;  // more items per bucket
  int64_t worst = -1;       // bucket
  double threshold = kUnknown;
  double design_effect = kUnknown;                                      // items share filler
  double gain_nats = kUnknown, gain_lo = kUnknown, gain_hi = kUnknown;  // ranking mode
  std::vector<std::string> failures;  // sids of items that were not ok
  std::string why_not_run;            // "level 1 failed at 8192", "stopped", ...
  std::string says;                   // what else decided: "5 of 240 requests failed: no PASS"
  double accuracy_answered() const {
    return answered > 0 ? double(correct) / double(answered) : kUnknown;
  }
  double accuracy_planned() const { return asked > 0 ? double(correct) / double(asked) : kUnknown; }
};

/// A control or paired comparison: one number with its interval and what it means.
struct Measure {
  std::string id;     // "guess_rate", "evidence_following", "composition_gap", "mcc", ...
  std::string title;  // words
  int64_t level = 2, length = 0, n = 0;
  double value = kUnknown, lo = kUnknown, hi = kUnknown, p = kUnknown;
  std::string task;
  std::string says;
};

/// The same items of two runs, before and after a change, at the original length.
struct Regression {
  std::string before;  // folder or file
  int64_t pairs = 0, both = 0, neither = 0, only_before = 0, only_after = 0;
  double difference = kUnknown, lo = kUnknown, hi = kUnknown;  // accuracy, after minus before
  double p = kUnknown;                                         // exact McNemar
  double margin = 0.02;                                        // of non-inferiority
  Status status = Status::NotRun;
  std::string says;
  std::vector<std::string> lost;  // sids that were right before and are not after
};

struct CurvePoint {
  int64_t length = 0;
  double first_token_ms = kUnknown, first_token_median_ms = kUnknown;  // least and median of 3
  double decode_per_s = kUnknown;                                      // null when in one burst
  double memory_mib = kUnknown;
  std::optional<int64_t> cached;
};

struct RankingPoint {  // small base models: copy probe and evidence gain by distance
  std::string probe;   // gain | copy
  int64_t length = 0, distance = 0, n = 0;
  double nats = kUnknown, lo = kUnknown, hi = kUnknown, top1 = kUnknown, mrr = kUnknown;
};

struct LevelVerdict {
  int64_t level = 1;
  Status status = Status::NotRun;
  int64_t effective_length = 0;  // largest length that passes with every shorter one; 0 = none
  std::string says;              // one line
  std::string worst;             // "bucket 3 of 5 at 8192: 0.62 (0.48-0.74)"
};

struct Cost {
  int64_t requests = 0, prompt_tokens = 0, answer_tokens = 0;
  int64_t errors = 0;  // failed; that a prompt is too long is an answer
  double seconds = 0.0;
  double money = kUnknown;
};

struct Acceptance {
  std::string subject, command, build_revision, date, generator;
  AcceptOptions options;
  Facts facts;
  Calibration calibration;
  LevelOne one;
  int64_t answer_tokens = 0;  // max_tokens that answers were found to need; 0 = not measured
  std::vector<Cell> cells;
  std::vector<Measure> measures;
  std::optional<Regression> regression;
  std::vector<RankingPoint> ranking;
  std::vector<CurvePoint> curves;
  std::vector<Finding> findings;
  std::vector<LevelVerdict> levels;
  Status verdict = Status::NotRun;
  std::vector<std::string> says;  // the verdict in three lines
  int64_t effective_length = 0;   // of level 1, in tokens
  Cost cost;
  std::vector<Sample> failures;  // every item that was not ok
};

/// accept.json, schema gyre.accept/1; for the terminal; JUnit XML.
std::string to_json(const Acceptance& acceptance);
std::string to_text(const Acceptance& acceptance);
std::string to_junit(const Acceptance& acceptance);
/// 0 passed, 1 failed or undecided.
int exit_status(const Acceptance& acceptance);

}  // namespace gyre::accept
