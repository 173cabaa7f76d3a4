// A sentence is a head ("the baker sold the old lamp") and a tail ("near the quiet harbour"). The
// tail can be had in any length from 10 to 33 bytes, so a sentence of exactly n bytes is a random
// head and the tail that fits; long ones are two clauses. One sentence in eight is a record whose
// key belongs to the filler alone, see records.h.
#include "gyre/accept/text/sentences.h"

#include <cctype>
#include <iterator>

#include "gyre/accept/text/filler.h"
#include "gyre/accept/text/records.h"
#include "gyre/accept/text/vocabulary.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

namespace v = vocabulary;

constexpr int64_t kShortestTail = 10, kLongestTail = 33;
constexpr int64_t kLongestClause = 110;  // of a sentence of exact length; longer ones are joined

template <size_t N>
std::string_view pick(Rng& rng, const std::string_view (&list)[N]) {
  return list[rng.below(N)];
}

std::string_view pick(Rng& rng, Slot slot) {
  const auto list = words_of(slot);
  return list[rng.below(list.size())].text;
}

std::string join(std::initializer_list<std::string_view> parts) {
  std::string text;
  for (const auto part : parts) {
    text += part;
  }
  return text;
}

std::string thing(Rng& rng) {
  return join({"the ", pick(rng, v::kAdjectives), " ", pick(rng, v::kNouns)});
}

std::string record_head(Rng& rng) {
  const auto key = filler_key(rng);
  return join({record_opening(key), " was ", pick(rng, v::kPassive)});
}

/// What may open a short sentence: 9 to 30 bytes.
std::string short_head(Rng& rng) {
  switch (rng.below(4)) {
    case 0:
      return join({pick(rng, v::kNames), " ", pick(rng, v::kIntransitive)});
    case 1:
      return join({pick(rng, Slot::Person), " ", pick(rng, v::kIntransitive)});
    case 2:
      return join({"the ", pick(rng, v::kNouns), " was ", pick(rng, v::kPassive)});
    default:
      return join({pick(rng, v::kNames), " ", pick(rng, v::kTransitive), " it"});
  }
}

std::string long_head(Rng& rng) {
  switch (rng.below(10)) {
    case 0:
      return join(
          {pick(rng, Slot::Person), " ", pick(rng, v::kIntransitive), " ", pick(rng, v::kAdverbs)});
    case 1:
      return join({pick(rng, Slot::Person), " ", pick(rng, v::kTransitive), " ", thing(rng)});
    case 2:
      return join({pick(rng, v::kNames), " ", pick(rng, v::kTransitive), " ",
                   pick(rng, v::kNumbers), " ", pick(rng, v::kAdjectives), " ",
                   pick(rng, v::kPlurals)});
    case 3:
      return join({thing(rng), " was ", pick(rng, v::kPassive), " ", pick(rng, v::kAdverbs)});
    case 4:
      return join({pick(rng, v::kTimes), " ", pick(rng, Slot::Person), " and ",
                   pick(rng, Slot::Person), " ", pick(rng, v::kIntransitive)});
    case 5:
      return join({pick(rng, v::kTimes), " ", pick(rng, v::kNames), " ", pick(rng, v::kTransitive),
                   " ", thing(rng)});
    case 6:
      return join({"nobody in ", pick(rng, Slot::Place), " ", pick(rng, v::kTransitive), " the ",
                   pick(rng, Slot::Object)});
    case 7:
      return join({pick(rng, Slot::Person), " from ", pick(rng, Slot::Place), " ",
                   pick(rng, v::kTransitive), " ", pick(rng, v::kNumbers), " ",
                   pick(rng, v::kPlurals), " and ", thing(rng)});
    case 8:
      return join({"the ", pick(rng, Slot::Register), " of ", pick(rng, Slot::Place), " says that ",
                   pick(rng, Slot::Person), " ", pick(rng, v::kIntransitive)});
    default:
      return join({"in ", pick(rng, Slot::Month), " ", thing(rng), " of ", pick(rng, Slot::Person),
                   " was ", pick(rng, v::kPassive)});
  }
}

std::string any_head(Rng& rng) {
  const uint64_t kind = rng.below(8);
  return kind == 0 ? record_head(rng) : kind == 1 ? short_head(rng) : long_head(rng);
}

/// "near the quiet harbour" with exactly n_bytes; empty when the draw found none.
std::string tail(Rng& rng, int64_t n_bytes) {
  for (int i = 0; i < 16; ++i) {
    const auto preposition = pick(rng, v::kPrepositions), place = pick(rng, v::kPlaces);
    const int64_t bare = int64_t(preposition.size() + place.size()) + 5;
    if (bare == n_bytes) {
      return join({preposition, " the ", place});
    }
    const int64_t left = n_bytes - bare - 1;
    for (int j = 0; left >= 3 && j < 16; ++j) {
      if (const auto adjective = pick(rng, v::kAdjectives); int64_t(adjective.size()) == left) {
        return join({preposition, " the ", adjective, " ", place});
      }
    }
  }
  return "";
}

std::string any_tail(Rng& rng) {
  if (rng.below(3) == 0) {
    return join({pick(rng, v::kPrepositions), " the ", pick(rng, v::kPlaces)});
  }
  return join({pick(rng, v::kPrepositions), " the ", pick(rng, v::kAdjectives), " ",
               pick(rng, v::kPlaces)});
}

/// Head and tail, no capital, no full stop, exactly n_bytes (23 to 109).
std::string exact_clause(Rng& rng, int64_t n_bytes) {
  for (int i = 0; i < 1000; ++i) {
    std::string head = n_bytes < 45 ? short_head(rng) : any_head(rng);
    const int64_t left = n_bytes - int64_t(head.size()) - 1;
    if (left < kShortestTail || left > kLongestTail) {
      continue;
    }
    if (const std::string end = tail(rng, left); !end.empty()) {
      return head + " " + end;
    }
  }
  throw Error(Code::Internal, "filler: no clause of ", n_bytes, " bytes was found");
}

std::string exact_words(Rng& rng, int64_t n_bytes) {
  if (n_bytes < kLongestClause) {
    return exact_clause(rng, n_bytes);
  }
  while (true) {
    std::string text = join({any_head(rng), " ", any_tail(rng), pick(rng, v::kJoiners)});
    if (const int64_t left = n_bytes - int64_t(text.size()); left >= kShortestSentence) {
      return text + exact_words(rng, left);
    }
  }
}

std::string finished(std::string words) {
  words[0] = char(std::toupper(static_cast<unsigned char>(words[0])));
  return words + ".";
}

}  // namespace

std::string any_sentence(Rng& rng) {
  std::string words = any_head(rng);
  if (words.size() < kShortestSentence || rng.below(4) != 0) {
    words += " " + any_tail(rng);
  }
  return words.size() + 1 < kShortestSentence ? any_sentence(rng) : finished(std::move(words));
}

std::string filler_sentence(Rng& rng, int64_t n_bytes) {
  if (n_bytes < kShortestSentence) {
    throw Error(Code::Internal, "filler: a sentence has at least ", kShortestSentence,
                " bytes, got ", n_bytes);
  }
  return finished(exact_words(rng, n_bytes - 1));
}

std::vector<std::string> filler_sentences(uint64_t seed, std::string_view stream, int64_t n_bytes) {
  std::vector<std::string> sentences;
  Rng rng(seed, stream);
  int64_t left = n_bytes;  // without the space before the next sentence
  while (left > 2 * kLongestClause) {
    sentences.push_back(any_sentence(rng));
    left -= int64_t(sentences.back().size()) + 1;
  }
  while (left > kLongestClause) {
    const int64_t n = kShortestSentence + 16 + int64_t(rng.below(uint64_t(left) - 80));
    sentences.push_back(filler_sentence(rng, n));
    left -= n + 1;
  }
  if (left >= kShortestSentence) {
    sentences.push_back(filler_sentence(rng, left));
  }
  return sentences;
}

std::string filler(uint64_t seed, std::string_view stream, int64_t n_bytes) {
  std::string text;
  text.reserve(size_t(n_bytes > 0 ? n_bytes : 0));
  for (const auto& sentence : filler_sentences(seed, stream, n_bytes)) {
    text += text.empty() ? "" : " ";
    text += sentence;
  }
  return text;
}

}  // namespace gyre::accept
