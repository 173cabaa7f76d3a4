// Filler: seeded grammar sentences from large vocabularies, never one repeated block, in the same
// grammar as the evidence, so that nothing pops out. Texts have an exact number of bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/rng.h"

namespace gyre::accept {

/// Whole sentences of exactly n_bytes together (ASCII, one space between); "" for n_bytes < 24.
std::string filler(uint64_t seed, std::string_view stream, int64_t n_bytes);

/// One filler sentence of exactly n_bytes, at least 24: what stands in place of a sentence that is
/// left out.
std::string filler_sentence(Rng& rng, int64_t n_bytes);

/// The first line of every prompt, so that no two prompts share a prefix: "Document 7K3Q-XM2R-5."
std::string salt_line(uint64_t seed, std::string_view stream);

/// Six symbols of 29 (no 0/O/1/I/L/U/V) with a digit and a letter among them, grouped: "KX7-3QD". A
/// blind guess is right once in 5e8.
std::string make_code(Rng& rng);
inline constexpr std::string_view kCodeSymbols = "23456789ABCDEFGHJKMNPQRSTWXYZ";
/// Every code in a text, canonical form, in order, repeats too; tolerates lower case and a missing
/// or other dash.
std::vector<std::string> codes_in(std::string_view text);

/// A text is too short for what it should hold.
class NoRoom : public Error {
 public:
  template <class... T>
  explicit NoRoom(const T&... parts) : Error(Code::Usage, parts...) {}
};

/// A sentence to be placed; the haystack tells where it came to stand.
struct Insert {
  double fraction = 0.0;  // of the filler before it
  std::string sentence;
};

struct Haystack {
  std::string text;              // filler and inserts, n_bytes in all
  std::vector<int64_t> offsets;  // byte at which each insert starts, in the order given
};

/// Filler with sentences put in at sentence ends. Same seed and same lengths of inserts: the same
/// filler at the same places, whatever the sentences say.
///
/// throws  NoRoom when the sentences and the shortest filler do not fit into n_bytes
Haystack make_haystack(uint64_t seed, int64_t n_bytes, const std::vector<Insert>& inserts);

}  // namespace gyre::accept
