// Items of the needle ranking: key -> value pairs, then one key again; which value follows?
//   pairs  "aX\nbY\ncZ\nb"              the key stands right before its value (associative recall)
//   lines  "ab is X\ncd is Y\nab is "   keys of two letters, a cue between key and value
// Items are token ids made from single-token letters, so any tokenizer with enough letters works
// and all contexts of a cell have equal length. They depend on the seed and the tokenizer alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/evaluate/eval_options.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::evaluate {

struct NeedleItem {
  std::vector<int64_t> context;  // evidence present
  std::vector<int64_t> control;  // evidence removed: the asked pair has another key
  std::vector<int64_t> options;  // value ids to rank, distinct
  size_t answer = 0;             // index of the right one
  double depth = 0.0;            // of the needle: (index + 0.5) / (distractors + 1)
};

/// The pieces items are made of, each encoded alone.
struct NeedleAlphabet {
  std::vector<int64_t> letters;    // ids of letters that are one token; distinct
  std::vector<int64_t> cue;        // between key and value
  std::vector<int64_t> separator;  // after a value
};
NeedleAlphabet needle_alphabet(const model::Tokenizer& tokenizer, NeedleFamily family);

struct NeedleDesign {
  NeedleFamily family = NeedleFamily::Pairs;
  int64_t n_distractors = 0;
  int64_t n_foils = 7;  // absent options at 0 distractors, where one present value is no choice
  int64_t n_items = 0;
  uint64_t seed = 1;
};

/// 1 / number of options.
double needle_chance(const NeedleDesign& design);

/// Needle depth and answer index are balanced over the items. Every option is present in context
/// and control (at 0 distractors: only the answer, and only in the context).
///
/// throws  Error(Usage) when the alphabet has too few letters
std::vector<NeedleItem> make_needle_items(const NeedleAlphabet& alphabet,
                                          const NeedleDesign& design);

}  // namespace gyre::evaluate
