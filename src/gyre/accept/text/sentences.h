// The grammar of the filler: one sentence of any length, or of exactly so many bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/rng.h"

namespace gyre::accept {

/// Fewest bytes of a filler sentence.
inline constexpr int64_t kShortestSentence = 24;

/// A filler sentence as it comes, 24 to 140 bytes with its full stop.
std::string any_sentence(Rng& rng);

/// filler() as its sentences; together with one space between they have n_bytes.
std::vector<std::string> filler_sentences(uint64_t seed, std::string_view stream, int64_t n_bytes);

}  // namespace gyre::accept
