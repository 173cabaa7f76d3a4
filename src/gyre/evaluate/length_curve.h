// Loss at lengths other than the training length. The same tokens are scored at every length, by
// windows side by side ("disjoint") and by sliding windows, so that what changes along the curve is
// the context alone, and the early-token effect (ALiBi paper, 2108.12409) can be told from it.
#pragma once

#include "gyre/evaluate/windows.h"

namespace gyre::evaluate {

struct LengthEntry {
  int64_t length = 0;
  bool sliding = false;
  double loss = 0.0;  // nats per token; NaN when skipped
  int64_t n_tokens = 0;
  std::vector<Bucket> blocks;  // by position inside the window
  std::string skipped;         // why nothing was scored; empty otherwise
};

/// The predictions that every length scores: [begin, begin + n).
struct Region {
  int64_t begin = 0, n = 0;
};

/// begin = half the largest length (sliding windows need that much before it); n = n_tokens rounded
/// up to whole windows of the largest length. Fewer when the stream is short, down to 0.
Region common_region(int64_t stream_tokens, int64_t largest, int64_t n_tokens);

/// Two entries per length. A length that the stream cannot hold is kept with the reason; notes say
/// every shortening.
std::vector<LengthEntry> length_curve(const data::TokenStream& stream,
                                      const std::vector<int64_t>& lengths, int64_t n_tokens,
                                      const NllFn& nll, std::vector<std::string>& notes);

}  // namespace gyre::evaluate
