#include "gyre/data/recall.h"

#include <algorithm>

#include "gyre/base/rng.h"

namespace gyre::data {

std::string recall_document(uint64_t index) {
  constexpr size_t kBytes = 50'000;
  constexpr uint64_t kShortest = 2, kLongest = 24;
  Rng rng(1, "corpus/recall", index);
  std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string out;
  while (out.size() < kBytes) {
    const uint64_t n = kShortest + rng.below(kLongest - kShortest + 1);
    for (uint64_t i = 0; i < n; ++i) {  // the first n of a shuffle
      std::swap(letters[i], letters[i + rng.below(letters.size() - i)]);
    }
    const uint64_t length = 2 * n + rng.below(4 * n + 1);
    for (uint64_t i = 0; i < length; ++i) {
      out += letters[i % n];
    }
    out += ' ';
  }
  out.back() = '\n';
  return out;
}

}  // namespace gyre::data
