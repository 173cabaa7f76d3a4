// Two tokenizers on one text: how many tokens, where they cut differently, how much of their
// vocabularies is shared. Losses per token of two models can be compared only through bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {

struct TokenizerUse {
  std::string kind;
  int64_t vocab = 0;
  int64_t n_tokens = 0;
  double bytes_per_token = 0.0;
  bool keeps_text = false;    // whether the tokens' bytes are the text
  int64_t first_change = -1;  // else: the byte where they stop being so
  int64_t n_cuts = 0;         // places inside the text where a token ends
  /// Loss of the model that goes with it; set by whoever can run that model.
  std::optional<double> bits_per_byte;
};

/// A stretch between two places where both cut, which they cut differently.
struct CutDifference {
  int64_t begin = 0, end = 0;  // bytes of the text
  std::string before, after;   // a little text around it
  std::vector<std::string> a, b;
};

struct TokenizerComparison {
  int64_t n_bytes = 0;
  TokenizerUse a, b;
  bool same_ids = false;
  bool cuts_compared = false;  // only when both keep the text
  int64_t shared_cuts = 0;
  int64_t n_differences = 0;
  std::vector<CutDifference> differences;  // the first ones
  int64_t shared_pieces = 0;               // token texts that both vocabularies have
};

TokenizerComparison compare_tokenizers(const Tokenizer& a, const Tokenizer& b,
                                       std::string_view text, size_t max_differences = 10);

/// Bits per byte of a text from the sum of its tokens' losses in nats.
double bits_per_byte(double sum_of_nats, int64_t n_bytes);

}  // namespace gyre::model
