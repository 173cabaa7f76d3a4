#include "gyre/base/rng.h"

namespace gyre {
namespace {

uint64_t mix(uint64_t z) {  // finaliser of SplitMix64, Steele et al. 2014
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15ULL;

}  // namespace

uint64_t derive_seed(uint64_t seed, std::string_view stream, uint64_t index) {
  uint64_t hash = mix(seed + kGolden);
  for (const char c : stream) {
    hash = mix(hash ^ static_cast<unsigned char>(c)) + kGolden;
  }
  return mix(hash ^ mix(index + kGolden));
}

uint64_t Rng::next() {
  state_ += kGolden;
  return mix(state_);
}

uint64_t Rng::below(uint64_t n) {
  const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
  uint64_t draw = next();
  while (draw >= limit) {
    draw = next();
  }
  return draw % n;
}

double Rng::uniform() {
  return static_cast<double>(next() >> 11U) * 0x1.0p-53;
}

}  // namespace gyre
