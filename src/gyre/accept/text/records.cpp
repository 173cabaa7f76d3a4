// Sentences are those of testing/mock_server/README.md, to the letter.
#include "gyre/accept/text/records.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

namespace gyre::accept {
namespace {

// At most six letters, so that a name stays within 60 bytes.
constexpr std::string_view kColours[] = {"red",    "blue",   "green",  "grey",   "black",  "white",
                                         "brown",  "pink",   "golden", "silver", "purple", "yellow",
                                         "orange", "violet", "amber",  "ivory"};
constexpr std::string_view kMaterials[] = {"wooden", "copper", "marble", "iron",  "glass", "stone",
                                           "tin",    "brass",  "bronze", "paper", "clay",  "silk",
                                           "linen",  "wool",   "velvet", "rubber"};

int64_t slot_size(Family family, int slot) {
  if (family == Family::Plain && slot == 0) {
    return std::ssize(kColours);
  }
  if (family == Family::Plain && slot == 4) {
    return std::ssize(kMaterials);
  }
  return std::ssize(words_of(static_cast<Slot>(slot)));
}

std::string word(const Key& key, Slot slot) {
  const auto i = static_cast<size_t>(slot);
  return std::string(words_of(slot)[size_t(key[i])].text);
}

std::string paraphrase(const Key& key, Slot slot) {
  const auto i = static_cast<size_t>(slot);
  return std::string(words_of(slot)[size_t(key[i])].paraphrase);
}

bool is_fillers(const Key& key) {
  return std::accumulate(key.begin(), key.end(), int64_t{0}) % 8 == 0;
}

Key any_key(Rng& rng, Family family) {
  Key key{};
  for (int i = 0; i < kSlots; ++i) {
    key[size_t(i)] = int64_t(rng.below(uint64_t(slot_size(family, i))));
  }
  return key;
}

std::set<std::string> words_in(std::string_view text) {
  std::set<std::string> words;
  std::string current;
  for (const char c : std::string(text) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') {
      current += char(std::tolower(static_cast<unsigned char>(c)));
    } else if (!current.empty()) {
      words.insert(std::exchange(current, ""));
    }
  }
  return words;
}

}  // namespace

Key filler_key(Rng& rng) {
  Key key = any_key(rng, Family::Record);
  const int64_t sum = std::accumulate(key.begin(), key.end(), int64_t{0});
  key[1] = (key[1] + 8 - sum % 8) % slot_size(Family::Record, 1);  // 64 places: 8 divides it
  return key;
}

Key evidence_key(Rng& rng, Family family) {
  Key key = any_key(rng, family);
  while (is_fillers(key)) {
    key = any_key(rng, family);
  }
  return key;
}

Key similar_key(Rng& rng, const Key& key, int64_t equal, Family family) {
  while (true) {
    std::array<size_t, kSlots> order{0, 1, 2, 3, 4};
    for (size_t i = kSlots - 1; i > 0; --i) {
      std::swap(order[i], order[rng.below(i + 1)]);
    }
    Key other = key;
    for (size_t i = size_t(equal); i < kSlots; ++i) {
      const int64_t n = slot_size(family, int(order[i]));
      other[order[i]] = (key[order[i]] + 1 + int64_t(rng.below(uint64_t(n - 1)))) % n;
    }
    if (!is_fillers(other)) {
      return other;
    }
  }
}

int64_t equal_slots(const Key& a, const Key& b) {
  int64_t n = 0;
  for (size_t i = 0; i < kSlots; ++i) {
    n += a[i] == b[i] ? 1 : 0;
  }
  return n;
}

std::string record_opening(const Key& key) {
  return "in the " + word(key, Slot::Register) + " of " + word(key, Slot::Place) + ", the " +
         word(key, Slot::Object) + " filed under " + word(key, Slot::Person) + " in " +
         word(key, Slot::Month);
}

std::string key_text(const Key& key) {
  return "the " + word(key, Slot::Object) + " filed under " + word(key, Slot::Person) + " in " +
         word(key, Slot::Month) + " in the " + word(key, Slot::Register) + " of " +
         word(key, Slot::Place);
}

std::string record(const Key& key, std::string_view kind, std::string_view value,
                   std::string_view date) {
  std::string text = date.empty() ? "" : "On " + std::string(date) + " it was recorded that ";
  text += record_opening(key) + " carries " + std::string(kind) + " " + std::string(value) + ".";
  text[0] = char(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

std::string record_question(const Key& key) {
  return "What code does " + key_text(key) + " carry?";
}

std::string paraphrased_question(const Key& key) {
  return "Which identifier belongs to the " + paraphrase(key, Slot::Object) + " that " +
         paraphrase(key, Slot::Person) + " lodged during " + paraphrase(key, Slot::Month) +
         " with the " + paraphrase(key, Slot::Register) + " at " + paraphrase(key, Slot::Place) +
         "?";
}

std::string plain_name(const Key& key) {
  return "the " + std::string(kColours[size_t(key[0])]) + " " +
         std::string(kMaterials[size_t(key[4])]) + " " + word(key, Slot::Object) + " of " +
         word(key, Slot::Person) + " in " + word(key, Slot::Place);
}

double word_jaccard(std::string_view a, std::string_view b) {
  const auto in_a = words_in(a), in_b = words_in(b);
  const auto both = std::count_if(in_a.begin(), in_a.end(),
                                  [&](const std::string& word) { return in_b.count(word) > 0; });
  const auto either = std::ssize(in_a) + std::ssize(in_b) - both;
  return either > 0 ? double(both) / double(either) : 1.0;
}

}  // namespace gyre::accept
