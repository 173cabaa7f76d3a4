// How many tokens a text will cost, learned from two short prompts without any tokenizer:
// prompt_tokens = overhead + tokens_per_byte * bytes of filler. The overhead holds the template and
// whatever of the prompt is no filler, so it belongs to one frame of prompts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::accept {

struct Calibration {
  double overhead = 0.0;              // tokens
  double tokens_per_byte = 0.25;      // of filler
  std::string source = "guess";       // usage | tokenize | in process | guess (bytes / 4)
  std::vector<std::string> evidence;  // sids

  int64_t tokens_for(int64_t filler_bytes) const;
  /// Most bytes of filler that keep within `tokens`; at least 0.
  int64_t bytes_for(int64_t tokens) const;
  /// |reported - predicted| beyond which something was cut or counted wrongly: max(64, 3 %).
  static int64_t tolerance(int64_t predicted);
};

/// The line through two points; falls back to the guess when they give no sensible slope.
Calibration fit_calibration(int64_t bytes_a, int64_t tokens_a, int64_t bytes_b, int64_t tokens_b);

}  // namespace gyre::accept
