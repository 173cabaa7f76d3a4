// Which key each query sees, element by element: equal scores give 1 / (number of keys seen), so
// the weights of the subject's attention are the mask itself.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Case {
  const char* name;
  position::MaskSpec mask;
  bool (*sees)(int64_t i, int64_t j);  // the rule written out again
};

const Case kCases[] = {
    {"full", {}, [](int64_t i, int64_t j) { return j <= i; }},
    {"window 4", {.window = 4}, [](int64_t i, int64_t j) { return j <= i && j > i - 4; }},
    {"window 1", {.window = 1}, [](int64_t i, int64_t j) { return j == i; }},
    {"case 32: 18 a side, read causally",
     {.window = 19},
     [](int64_t i, int64_t j) { return j <= i && i - j <= 18; }},
    {"dilated 3x2",
     {.window = 3, .dilation = 2},
     [](int64_t i, int64_t j) { return j == i || j == i - 2 || j == i - 4; }},
    {"window 3 + global 2",
     {.window = 3, .n_global = 2},
     [](int64_t i, int64_t j) { return j <= i && (i - j <= 2 || j <= 1); }},
    {"dilated 2x3 + global 1",
     {.window = 2, .dilation = 3, .n_global = 1},
     [](int64_t i, int64_t j) { return j >= 0 && (j == i || j == i - 3 || (j == 0 && j <= i)); }},
    {"chunk 5", {.chunk = 5}, [](int64_t i, int64_t j) { return j <= i && j / 5 == i / 5; }},
};

void check(const Subject& subject, const Case& one, int64_t n_queries, Tally& tally) {
  constexpr int64_t kKeys = 26;
  position::LayerPlan layer;
  layer.mask = one.mask;
  const Rows q = zero_rows({1, 1, n_queries, kKeys}), k = zero_rows({1, 1, kKeys, kKeys});
  const Rows weights = weights_of(subject, {q, k}, layer);
  for (int64_t t = 0; t < n_queries; ++t) {
    const int64_t i = kKeys - n_queries + t;
    int64_t seen = 0;
    for (int64_t j = 0; j < kKeys; ++j) {
      seen += one.sees(i, j) ? 1 : 0;
    }
    for (int64_t j = 0; j < kKeys; ++j) {
      const double expected = one.sees(i, j) ? 1.0 / static_cast<double>(seen) : 0.0;
      tally.at_most(std::abs(weights.at(0, 0, t, j) - expected), one.sees(i, j) ? 1e-15 : 0.0,
                    one.name, n_queries < kKeys ? " with a cache" : "", ": query ", i, ", key ", j);
    }
  }
}

CheckResult run(const Subject& subject) {
  Tally tally;
  for (const Case& one : kCases) {
    check(subject, one, 26, tally);
    check(subject, one, 7, tally);
    check(subject, one, 1, tally);
  }
  // transformers#39408: W = 4, query 10 sees keys 7..10.
  position::LayerPlan layer;
  layer.mask.window = 4;
  const Rows still = zero_rows({1, 1, 11, 11});
  const Rows weights = weights_of(subject, {still, still}, layer);
  for (int64_t j = 0; j < 11; ++j) {
    tally.at_most(std::abs(weights.at(0, 0, 10, j) - (j >= 7 ? 0.25 : 0.0)), 1e-15, "case 31: key ",
                  j);
  }
  return tally.result(str(std::size(kCases), " masks x 26 keys, 26, 7 and 1 queries"));
}

}  // namespace

Identity masks() {
  return {
      "masks", "P54, cases 31, 32", "Masks element by element",
      "rules written out again in the file; transformers#39408, SlowFast#5; hidden keys exactly "
      "0, seen ones within rounding",
      run};
}

}  // namespace gyre::verify
