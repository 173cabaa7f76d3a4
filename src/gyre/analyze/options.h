// Options of `gyre analyze`.
#pragma once

#include <cstdint>

#include "gyre/base/options.h"

namespace gyre::analyze {

struct AnalyzeOptions {
  bool builtin = true;          // gyre's own five texts
  int64_t tokens = 256;         // of one row
  int64_t windows = 4;          // rows of each text
  int64_t random_rows = 4;      // rows of random tokens for induction, and as many for content
  double threshold = 0.5;       // least score of a head with a role
  int64_t train_length = 0;     // tokens; 0 = the model's original length
  int64_t seed = 1;             // of random rows and tasks
  bool ablation = true;         // tasks without one group of pairs
  int64_t ablation_rows = 8;    // of the copy task and of prose
  int64_t ablation_items = 64;  // of the retrieval task
  bool spectrum = false;        // gradient signal by offset
  int64_t spectrum_tokens = 64;

  template <class V>
  void fields(V& v) {
    v("builtin", builtin, "the built-in texts: prose, german, chinese, code, arithmetic");
    v("tokens", tokens, "tokens of one row; a row is a piece of one text");
    v("windows", windows, "rows of each text; fewer when it is short");
    v("random-rows", random_rows, "rows of random tokens, for induction and as many for content");
    v("threshold", threshold, "least mean attention weight for a role in the head catalogue");
    v("train-length", train_length, "tokens of a training sequence; 0 = as the model says");
    v("seed", seed, "of random rows and tasks");
    v("ablation", ablation, "repeat three tasks without the fast, middle and slow pairs");
    v("ablation-rows", ablation_rows, "rows of the copy task and of prose");
    v("ablation-items", ablation_items, "items of the retrieval task");
    v("spectrum", spectrum, "gradient signal by offset and its surrogate; keeps the whole model");
    v("spectrum-tokens", spectrum_tokens, "tokens of the row whose loss is differentiated");
  }
};

/// Throws Error(Usage) naming the option that does not fit.
void check(const AnalyzeOptions& options);

}  // namespace gyre::analyze
