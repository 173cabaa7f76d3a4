#include "gyre/data/permutation.h"

#include <bit>

namespace gyre::data {
namespace {

constexpr int kRounds =
    6;  // 4 give a pseudo-random permutation (Luby and Rackoff 1988); small n mix slower

uint64_t round_function(uint64_t value, uint64_t key, int round) {
  uint64_t z = value + key + 0x9e3779b97f4a7c15ULL * static_cast<uint64_t>(round + 1);
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

}  // namespace

uint64_t permuted(uint64_t i, uint64_t n, uint64_t key) {
  const auto half = static_cast<unsigned>((std::bit_width(n - 1) + 1) / 2);
  const uint64_t mask = (uint64_t{1} << half) - 1;
  do {
    uint64_t left = i >> half;
    uint64_t right = i & mask;
    for (int round = 0; round < kRounds; ++round) {
      const uint64_t next = left ^ (round_function(right, key, round) & mask);
      left = right;
      right = next;
    }
    i = (left << half) | right;
  } while (i >= n);
  return i;
}

}  // namespace gyre::data
