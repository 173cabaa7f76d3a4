#include "gyre/model/tokenizer/compare.h"

#include <algorithm>
#include <numbers>
#include <unordered_set>

#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

/// One tokenizer's view of the text: where its tokens end.
struct Cuts {
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;
  std::vector<int64_t> ends;
};

Cuts cut(const Tokenizer& tokenizer, std::string_view text, TokenizerUse& use) {
  Cuts cuts;
  cuts.ids = tokenizer.encode(text);
  std::string joined;
  for (size_t i = 0; i < cuts.ids.size(); ++i) {
    // The first token alone knows what decoding takes from the front of a text.
    cuts.pieces.push_back(i == 0 ? tokenizer.decode({cuts.ids[0]}) : tokenizer.piece(cuts.ids[i]));
    joined += cuts.pieces.back();
    cuts.ends.push_back(static_cast<int64_t>(joined.size()));
  }
  use.kind = tokenizer.kind();
  use.vocab = tokenizer.vocab();
  use.n_tokens = static_cast<int64_t>(cuts.ids.size());
  use.bytes_per_token =
      cuts.ids.empty() ? 0.0 : static_cast<double>(text.size()) / static_cast<double>(use.n_tokens);
  use.keeps_text = joined == text;
  if (!use.keeps_text) {
    const auto [mine, theirs] =
        std::mismatch(joined.begin(), joined.end(), text.begin(), text.end());
    use.first_change = mine - joined.begin();
  }
  cuts.ends.erase(std::unique(cuts.ends.begin(), cuts.ends.end()), cuts.ends.end());
  use.n_cuts = std::max<int64_t>(0, static_cast<int64_t>(cuts.ends.size()) - 1);
  return cuts;
}

/// Whole characters of at most `n` bytes before or after a place.
std::string around(std::string_view text, int64_t at, int64_t n) {
  const auto size = static_cast<int64_t>(text.size());
  int64_t begin = std::clamp(n < 0 ? at + n : at, int64_t{0}, size);
  int64_t end = std::clamp(n < 0 ? at : at + n, int64_t{0}, size);
  const auto inside = [&](int64_t i) {
    return i > 0 && i < size &&
           (static_cast<unsigned char>(text[static_cast<size_t>(i)]) & 0xc0U) == 0x80U;
  };
  while (inside(begin) && begin < end) {
    ++begin;
  }
  while (inside(end) && end > begin) {
    --end;
  }
  return std::string(text.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin)));
}

std::vector<std::string> pieces_between(std::string_view text, const std::vector<int64_t>& ends,
                                        int64_t begin, int64_t end) {
  std::vector<std::string> pieces;
  auto next = std::upper_bound(ends.begin(), ends.end(), begin);
  for (int64_t at = begin; next != ends.end() && *next <= end; at = *next++) {
    pieces.emplace_back(text.substr(static_cast<size_t>(at), static_cast<size_t>(*next - at)));
  }
  return pieces;
}

void compare_cuts(std::string_view text, const std::vector<int64_t>& a,
                  const std::vector<int64_t>& b, size_t max_differences,
                  TokenizerComparison& result) {
  constexpr int64_t kContext = 24;  // bytes
  int64_t last = 0;                 // the last place where both cut
  bool differs = false;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    if (a[i] != b[j]) {
      differs = true;
      a[i] < b[j] ? ++i : ++j;
      continue;
    }
    if (differs && ++result.n_differences <= static_cast<int64_t>(max_differences)) {
      result.differences.push_back(
          {last, a[i], around(text, last, -kContext), around(text, a[i], kContext),
           pieces_between(text, a, last, a[i]), pieces_between(text, b, last, a[i])});
    }
    differs = false;
    last = a[i];
    result.shared_cuts += a[i] < static_cast<int64_t>(text.size()) ? 1 : 0;
    ++i;
    ++j;
  }
}

int64_t shared_pieces(const Tokenizer& a, const Tokenizer& b) {
  std::unordered_set<std::string> pieces;
  for (int64_t id = 0; id < a.vocab(); ++id) {
    pieces.insert(a.piece(static_cast<int32_t>(id)));
  }
  int64_t n = 0;
  pieces.erase(std::string());
  for (int64_t id = 0; id < b.vocab(); ++id) {
    n += static_cast<int64_t>(pieces.erase(b.piece(static_cast<int32_t>(id))));
  }
  return n;
}

}  // namespace

TokenizerComparison compare_tokenizers(const Tokenizer& a, const Tokenizer& b,
                                       std::string_view text, size_t max_differences) {
  TokenizerComparison result;
  result.n_bytes = static_cast<int64_t>(text.size());
  const Cuts cuts_a = cut(a, text, result.a);
  const Cuts cuts_b = cut(b, text, result.b);
  result.same_ids = cuts_a.ids == cuts_b.ids;
  result.cuts_compared = result.a.keeps_text && result.b.keeps_text;
  if (result.cuts_compared) {
    compare_cuts(text, cuts_a.ends, cuts_b.ends, max_differences, result);
  }
  result.shared_pieces = shared_pieces(a, b);
  return result;
}

double bits_per_byte(double sum_of_nats, int64_t n_bytes) {
  return sum_of_nats / std::numbers::ln2 / static_cast<double>(n_bytes);
}

}  // namespace gyre::model
