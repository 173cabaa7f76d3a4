// Where the sentences of an item come to stand. The filler is drawn first, as if nothing were put
// in, so items with the same seed share it up to its last sentences whatever is put in, and wholly
// when their inserts have equal lengths.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "gyre/accept/text/filler.h"
#include "gyre/accept/text/sentences.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

/// For each insert the number of filler sentences before it.
std::vector<size_t> places(const std::vector<std::string>& sentences, int64_t n_filler,
                           const std::vector<Insert>& inserts) {
  std::vector<double> ends{0.0};  // bytes of filler up to the end of each sentence
  for (const auto& sentence : sentences) {
    ends.push_back(ends.back() + double(sentence.size()) + 1);
  }
  std::vector<size_t> before;
  for (const auto& insert : inserts) {
    const double aim = std::clamp(insert.fraction, 0.0, 1.0) * double(n_filler + 1);
    const auto after = std::lower_bound(ends.begin(), ends.end(), aim);
    auto at = size_t(after - ends.begin());
    if (at == ends.size() || (at > 0 && aim - ends[at - 1] < ends[at] - aim)) {
      --at;
    }
    before.push_back(at);
  }
  return before;
}

void append(std::string& text, const std::string& sentence) {
  text += text.empty() ? "" : " ";
  text += sentence;
}

}  // namespace

Haystack make_haystack(uint64_t seed, int64_t n_bytes, const std::vector<Insert>& inserts) {
  int64_t n_filler = n_bytes;
  for (const auto& insert : inserts) {
    n_filler -= int64_t(insert.sentence.size()) + 1;
  }
  const bool empty = inserts.empty() ? n_bytes == 0 : n_filler == -1;  // no filler at all
  if (n_filler < kShortestSentence && !empty) {
    throw NoRoom("haystack: the sentences take ", n_bytes - n_filler,
                " bytes and the filler at least ", kShortestSentence, ", but there is room for ",
                n_bytes, "; ask for a longer prompt or fewer sentences");
  }
  const auto sentences = filler_sentences(seed, "haystack", n_filler);
  const auto before = places(sentences, n_filler, inserts);
  std::vector<size_t> order(inserts.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return inserts[a].fraction < inserts[b].fraction; });
  Haystack haystack;
  haystack.text.reserve(size_t(n_bytes));
  haystack.offsets.resize(inserts.size());
  size_t next = 0;
  for (size_t i = 0; i <= sentences.size(); ++i) {
    for (; next < order.size() && before[order[next]] == i; ++next) {
      const size_t insert = order[next];
      haystack.offsets[insert] = int64_t(haystack.text.size() + (haystack.text.empty() ? 0 : 1));
      append(haystack.text, inserts[insert].sentence);
    }
    if (i < sentences.size()) {
      append(haystack.text, sentences[i]);
    }
  }
  return haystack;
}

}  // namespace gyre::accept
