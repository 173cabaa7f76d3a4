// Options of an evaluation. The defaults keep `gyre eval` of the default run near eight seconds on
// one thread; docs/eval.md says what each part costs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/options.h"

namespace gyre::evaluate {

enum class NeedleFamily { Pairs, Lines };

struct EvalOptions {
  int64_t val_tokens = 65'536;  // scored tokens from the start of the validation split; 0 = all
  int64_t val_block = 0;        // tokens per kept block loss; 0 = the training length
  std::vector<std::string> lengths = {"1x", "2x", "4x", "8x"};  // tokens, or multiples of training
  int64_t length_tokens = 12'288;  // tokens scored at every length, the same ones; 0 = no curve
  std::vector<int64_t> distractors = {0, 1, 3, 7, 15, 31};  // empty = no needle ranking
  int64_t needle_items = 128;                               // per number of distractors
  int64_t needle_foils = 7;  // absent values ranked against the present one when distractors = 0
  NeedleFamily needle_family = NeedleFamily::Pairs;
  int64_t eval_seed = 1;     // of the needle items
  int64_t band_windows = 8;  // validation windows of the training length; 0 = no band report
  bool bands_per_head = false;

  template <class V>
  void fields(V& v) {
    v("val-tokens", val_tokens, "validation tokens scored, from the start of the split; 0 = all");
    v("val-block", val_block, "tokens per block of the kept block losses; 0 = training length");
    v("lengths", lengths, "lengths of the length curve: tokens (512) or training lengths (2x)");
    v("length-tokens", length_tokens, "tokens scored at every length (the same); 0 = no curve");
    v("distractors", distractors, "numbers of distractor pairs of the needle ranking");
    v("needle-items", needle_items, "needle items per number of distractors");
    v("needle-foils", needle_foils, "absent values ranked against the needle at 0 distractors");
    v("needle-family", needle_family, "pairs (aX bY a) | lines (ab is X)");
    v("eval-seed", eval_seed, "seed of the needle items");
    v("band-windows", band_windows, "validation windows of the band report; 0 = none");
    v("bands-per-head", bands_per_head, "write the chunk norms of every head too");
  }
};

/// Throws Error(Usage) naming the option that does not fit.
void check(const EvalOptions& options);

/// Lengths in tokens, ascending, each once. "2x" is twice train_length, "512" is 512 tokens.
/// Error(Usage) on anything else and on lengths under 2 tokens.
std::vector<int64_t> parse_lengths(const std::vector<std::string>& lengths, int64_t train_length);

}  // namespace gyre::evaluate

template <>
struct gyre::EnumNames<gyre::evaluate::NeedleFamily> {
  static constexpr std::pair<gyre::evaluate::NeedleFamily, const char*> list[] = {
      {gyre::evaluate::NeedleFamily::Pairs, "pairs"},
      {gyre::evaluate::NeedleFamily::Lines, "lines"}};
};
