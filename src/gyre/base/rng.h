// Named seed streams: every random draw in gyre belongs to one, so that adding a draw somewhere
// never shifts the draws elsewhere, and paired runs see the same numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre {

/// A 64-bit seed that depends on every argument; equal arguments give equal seeds on any machine.
uint64_t derive_seed(uint64_t seed, std::string_view stream, uint64_t index = 0);

/// SplitMix64: small, fast, well mixed; the same numbers on every platform.
class Rng {
 public:
  Rng(uint64_t seed, std::string_view stream, uint64_t index = 0)
      : state_(derive_seed(seed, stream, index)) {}
  uint64_t next();
  /// Uniform in [0, n), without bias; n > 0.
  uint64_t below(uint64_t n);
  /// Uniform in [0, 1).
  double uniform();

 private:
  uint64_t state_;
};

}  // namespace gyre
