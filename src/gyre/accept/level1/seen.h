// What one roll call showed: which stripes came back, how the answer failed, what was counted. A
// pure reading of a sample; nothing here asks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/calibration.h"
#include "gyre/accept/item.h"

namespace gyre::accept {

enum class Outcome {
  Kept,     // every code came back
  Lost,     // some did
  Wrong,    // an answer with none of them
  Empty,    // no text at all
  Refused,  // honestly: 4xx about the length
  Rate,     // a limit that this request can never meet
  Failed,   // any other fault
};

struct Seen {
  Sample sample;
  Outcome outcome = Outcome::Failed;
  std::vector<int> stripes;         // 1 came back, 0 did not; by asked checkpoint
  std::string text;                 // what was read: content without thoughts, else reasoning
  int64_t predicted = 0;            // tokens of the prompt
  bool calibrated = false;          // the prediction rests on the server's own counts
  std::optional<int64_t> reported;  // by usage, where it says anything
  bool degenerate = false;          // gibberish, one span over and over, all codes in a heap
  bool near_miss = false;           // each wrong code differs from the right one in one symbol
  bool unnumbered = false;          // right codes in order, without their numbers
  bool thinks_in_content = false, only_reasoning = false;

  const Reply& reply() const { return sample.reply; }
  const std::string& sid() const { return sample.item.sid; }
  bool cut() const;  // finish_reason length
  int64_t right() const;
  int64_t wrong() const { return int64_t(stripes.size()) - right(); }
  /// Tokens as the server counts them where that agrees with the prediction.
  int64_t tokens() const;
  bool counted_less() const;  // usage below the prediction by more than the tolerance
  bool counted_otherwise() const;
};

/// The item's gold has one code per asked checkpoint.
Seen see(const Sample& sample, const Calibration& calibration);

/// Where codes are missing.
enum class Shape { Whole, Head, Middle, Tail, Scattered, All };
const char* name_of(Shape shape);

struct Gap {
  Shape shape = Shape::Whole;
  int64_t first = 0, last = -1;  // stripes that are missing, from 0
};
/// The one run of missing stripes; Scattered when there are several (a stray one in a run of four
/// or more is allowed).
Gap gap_of(const std::vector<int>& stripes);

/// "stripes 1-7 of 16"
std::string words(const Gap& gap, size_t n_stripes);

/// The content without chains of thought.
std::string without_thoughts(const std::string& text, bool* found = nullptr);

/// Largest |difference| of the log-probabilities of equal tokens at equal places; empty when
/// either reply has none.
std::optional<double> difference(const Reply& a, const Reply& b);

}  // namespace gyre::accept
