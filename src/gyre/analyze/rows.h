// The batch that one pass analyses: rows of texts, then rows of random tokens whose right answers
// are known. All rows have one length, so that a streamed model reads each block once.
//   text      a piece of one domain
//   repeat    r1 .. rR r1 .. rR ...   induction: after r3 comes what followed r3 before
//   alphabet  tokens drawn from eight   content: equal tokens at random distances
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/analyze/options.h"
#include "gyre/analyze/subject.h"
#include "gyre/analyze/texts.h"

namespace gyre::analyze {

struct Domain {
  std::string name, source;
  int64_t text_tokens = 0;  // of the whole text
  int64_t first_row = 0, n_rows = 0;
};

struct Rows {
  at::Tensor tokens;  // [B, T] int64: text, repeat, alphabet
  std::vector<Domain> domains;
  int64_t n_text = 0, n_random = 0;  // n_random repeat rows, then n_random alphabet rows
  int64_t period = 0;                // R of the repeat rows
  std::vector<int64_t> vocabulary;   // distinct ids of the texts: what random tokens are drawn from
  std::vector<std::string> notes;    // what was shortened or left out

  int64_t length() const { return tokens.size(1); }
  int64_t first_repeat() const { return n_text; }
  int64_t first_alphabet() const { return n_text + n_random; }
};

/// throws  Error(Usage) when no text is long enough
Rows make_rows(const Subject& subject, const std::vector<Text>& texts,
               const AnalyzeOptions& options);

/// Random ids, [T] int64, from the stream (seed, name, index): each once while there are enough.
at::Tensor random_ids(const std::vector<int64_t>& vocabulary, int64_t length, uint64_t seed,
                      std::string_view stream, uint64_t index);

}  // namespace gyre::analyze
