#include "gyre/accept/quality/spec.h"

#include <cmath>
#include <numbers>
#include <utility>

#include "gyre/base/rng.h"

namespace gyre::accept {

std::string Spec::label() const {
  std::string text = task;
  for (const auto& [name, value] : dials) {
    text += " " + name + "=" + value;
  }
  return text;
}

double place_in(int64_t bucket, int64_t index) {
  // Multiples of the golden ratio are spread evenly however many there are.
  const double spread = std::fmod(0.5 + static_cast<double>(index) / std::numbers::phi, 1.0);
  return (static_cast<double>(bucket) + spread) / static_cast<double>(kBuckets);
}

std::vector<double> places_from(int64_t bucket, int64_t index, int64_t n, uint64_t seed) {
  std::vector<int64_t> others;
  for (int64_t other = 0; other < kBuckets; ++other) {
    if (other != bucket) {
      others.push_back(other);
    }
  }
  Rng rng(seed, "places", static_cast<uint64_t>(index));
  for (size_t i = others.size(); i > 1; --i) {
    std::swap(others[i - 1], others[rng.below(i)]);
  }
  std::vector<double> places{place_in(bucket, index)};
  for (int64_t i = 1; i < n; ++i) {
    const size_t at = static_cast<size_t>(i - 1) % others.size();
    places.push_back(place_in(others[at], index + i));
  }
  return places;
}

}  // namespace gyre::accept
