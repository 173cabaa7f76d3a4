#include "gyre/evaluate/needle_items.h"

#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/base/rng.h"

namespace gyre::evaluate {
namespace {

using Ids = std::vector<int64_t>;

Ids encode(const model::Tokenizer& tokenizer, const std::string& text) {
  const std::vector<int32_t> ids = tokenizer.encode(text);
  return {ids.begin(), ids.end()};
}

const char* family_name(NeedleFamily family) {
  return family == NeedleFamily::Pairs ? "pairs" : "lines";
}

void shuffle(Ids& ids, Rng& rng) {  // Fisher-Yates; std::shuffle differs between libraries
  for (size_t i = ids.size(); i > 1; --i) {
    std::swap(ids[i - 1], ids[rng.below(i)]);
  }
}

struct Pair {
  Ids key;
  int64_t value = 0;
};

void append(Ids& out, const Ids& part) {
  out.insert(out.end(), part.begin(), part.end());
}

/// All pairs and the cue: separator first, so that every key follows the same token.
Ids render(const NeedleAlphabet& alphabet, const std::vector<Pair>& pairs, const Ids& asked) {
  Ids out = alphabet.separator;
  for (const Pair& pair : pairs) {
    append(out, pair.key);
    append(out, alphabet.cue);
    out.push_back(pair.value);
    append(out, alphabet.separator);
  }
  append(out, asked);
  append(out, alphabet.cue);
  return out;
}

/// n distinct keys. One-letter keys: the first two are none of `values`, so that the asked key and
/// the key that replaces it occur as keys only; the rest are in random order.
std::vector<Ids> draw_keys(const Ids& letters, const Ids& values, NeedleFamily family, size_t n,
                           Rng& rng) {
  std::vector<Ids> keys;
  if (family == NeedleFamily::Lines) {
    while (keys.size() < n) {
      const Ids key = {letters[rng.below(letters.size())], letters[rng.below(letters.size())]};
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
        keys.push_back(key);
      }
    }
    return keys;
  }
  Ids pool = letters;
  shuffle(pool, rng);
  for (size_t i = 0, n_free = 0; n_free < 2; ++i) {  // check_letters made sure that two exist
    if (std::find(values.begin(), values.end(), pool[i]) == values.end()) {
      std::swap(pool[i], pool[n_free++]);
    }
  }
  for (size_t i = 0; i < n; ++i) {
    keys.push_back({pool[i]});
  }
  return keys;
}

void check_letters(const NeedleAlphabet& alphabet, const NeedleDesign& design) {
  const auto present = static_cast<size_t>(design.n_distractors) + 1;
  // Values in the context and two keys apart from them; at 0 distractors foils and one more value.
  const size_t needed =
      design.n_distractors == 0 ? static_cast<size_t>(design.n_foils) + 4 : present + 2;
  if (alphabet.letters.size() < needed) {
    throw Error(Code::Usage, "needle: ", design.n_distractors, " distractors need ", needed,
                " letters that are one token each, the tokenizer has ", alphabet.letters.size(),
                "; use fewer --distractors or --needle-foils");
  }
}

}  // namespace

NeedleAlphabet needle_alphabet(const model::Tokenizer& tokenizer, NeedleFamily family) {
  NeedleAlphabet alphabet;
  const std::string letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  for (const char letter : letters) {
    const Ids ids = encode(tokenizer, std::string(1, letter));
    const bool fresh =
        ids.size() == 1 && std::find(alphabet.letters.begin(), alphabet.letters.end(), ids[0]) ==
                               alphabet.letters.end();
    if (fresh) {
      alphabet.letters.push_back(ids[0]);
    }
  }
  if (family == NeedleFamily::Lines) {
    alphabet.cue = encode(tokenizer, " is ");
  }
  for (const char* separator : {"\n", ";", ","}) {  // some tokenizers drop white space
    alphabet.separator = encode(tokenizer, separator);
    if (!alphabet.separator.empty()) {
      break;
    }
  }
  return alphabet;
}

double needle_chance(const NeedleDesign& design) {
  const int64_t others = design.n_distractors == 0 ? design.n_foils : design.n_distractors;
  return 1.0 / static_cast<double>(others + 1);
}

std::vector<NeedleItem> make_needle_items(const NeedleAlphabet& alphabet,
                                          const NeedleDesign& design) {
  check_letters(alphabet, design);
  const auto present = static_cast<size_t>(design.n_distractors) + 1;
  const bool alone = design.n_distractors == 0;
  const size_t n_options = alone ? static_cast<size_t>(design.n_foils) + 1 : present;
  const std::string stream = str("needle/", family_name(design.family), "/", design.n_distractors);
  std::vector<NeedleItem> items;
  for (size_t i = 0; i < static_cast<size_t>(design.n_items); ++i) {
    Rng rng(design.seed, stream, i);
    Ids values = alphabet.letters;
    shuffle(values, rng);
    values.resize(n_options + (alone ? 1 : 0));  // alone: the last one replaces the answer
    std::vector<Ids> keys = draw_keys(alphabet.letters, values, design.family, present + 1, rng);
    const Ids asked = keys[0], unasked = keys[1];  // the two that no value can equal
    NeedleItem item;
    const size_t needle = i % present;
    item.answer = i % n_options;
    item.depth = (static_cast<double>(needle) + 0.5) / static_cast<double>(present);
    item.options.assign(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(n_options));
    std::vector<Pair> pairs(present);
    size_t next_key = 2;
    for (size_t p = 0; p < present; ++p) {
      pairs[p] = {p == needle ? asked : keys[next_key++], item.options[alone ? item.answer : p]};
    }
    item.context = render(alphabet, pairs, asked);
    pairs[needle].key = unasked;
    pairs[needle].value = alone ? values.back() : pairs[needle].value;
    item.control = render(alphabet, pairs, asked);
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace gyre::evaluate
