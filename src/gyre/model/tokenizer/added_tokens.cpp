#include "gyre/model/tokenizer/added_tokens.h"

#include <algorithm>
#include <cstring>

#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

bool touches_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word(code_point_before(text, begin).value)) ||
         (end < text.size() && is_word(code_point(text, end).value));
}

size_t spaces_before(std::string_view text, size_t end) {
  while (end > 0) {
    const CodePoint point = code_point_before(text, end);
    if (!is_white_space(point.value)) {
      break;
    }
    end -= point.n_bytes;
  }
  return end;
}

size_t spaces_after(std::string_view text, size_t begin) {
  while (begin < text.size()) {
    const CodePoint point = code_point(text, begin);
    if (!is_white_space(point.value)) {
      break;
    }
    begin += point.n_bytes;
  }
  return begin;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) {
  std::erase_if(tokens, [](const AddedToken& one) { return one.content.empty(); });
  tokens_ = std::move(tokens);
  for (size_t t = 0; t < tokens_.size(); ++t) {
    int32_t* link = nullptr;
    int32_t at = -1;
    for (const char c : tokens_[t].content) {
      const auto byte = static_cast<unsigned char>(c);
      link = at < 0 ? &roots_[byte] : &nodes_[static_cast<size_t>(at)].child;
      while (*link >= 0 && nodes_[static_cast<size_t>(*link)].byte != byte) {
        link = &nodes_[static_cast<size_t>(*link)].sibling;
      }
      if (*link < 0) {
        *link = static_cast<int32_t>(nodes_.size());
        at = *link;
        nodes_.push_back({byte, -1, -1, -1});  // `link` is stale from here on
      } else {
        at = *link;
      }
    }
    nodes_[static_cast<size_t>(at)].token = static_cast<int32_t>(t);
    starts_[static_cast<unsigned char>(tokens_[t].content[0])] = true;
  }
  if (std::count(starts_.begin(), starts_.end(), true) == 1) {
    only_start_ =
        static_cast<int>(std::find(starts_.begin(), starts_.end(), true) - starts_.begin());
  }
}

size_t AddedTokens::next_start(std::string_view text, size_t begin) const {
  if (only_start_ >= 0) {
    const void* found = std::memchr(text.data() + begin, only_start_, text.size() - begin);
    return found == nullptr ? text.size()
                            : static_cast<size_t>(static_cast<const char*>(found) - text.data());
  }
  while (begin < text.size() && !starts_[static_cast<unsigned char>(text[begin])]) {
    ++begin;
  }
  return begin;
}

int32_t AddedTokens::longest_at(std::string_view text, size_t begin) const {
  int32_t best = -1;
  int32_t at = roots_[static_cast<unsigned char>(text[begin])];
  for (size_t i = begin; at >= 0;) {
    best =
        nodes_[static_cast<size_t>(at)].token >= 0 ? nodes_[static_cast<size_t>(at)].token : best;
    if (++i == text.size()) {
      break;
    }
    at = nodes_[static_cast<size_t>(at)].child;
    while (at >= 0 && nodes_[static_cast<size_t>(at)].byte != static_cast<unsigned char>(text[i])) {
      at = nodes_[static_cast<size_t>(at)].sibling;
    }
  }
  return best;
}

std::vector<Stretch> AddedTokens::cut(std::string_view text, bool specials_too) const {
  std::vector<Stretch> out;
  size_t done = 0;
  for (size_t i = tokens_.empty() ? text.size() : next_start(text, 0); i < text.size();
       i = next_start(text, i)) {
    const int32_t found = longest_at(text, i);
    if (found < 0) {
      ++i;
      continue;
    }
    const AddedToken& token = tokens_[static_cast<size_t>(found)];
    size_t begin = i;
    size_t end = i + token.content.size();
    i = end;  // the search goes on behind the match, whatever becomes of it
    if ((token.special && !specials_too) || (token.single_word && touches_word(text, begin, end))) {
      continue;
    }
    begin = token.lstrip ? std::max(spaces_before(text, begin), done) : begin;
    end = token.rstrip ? spaces_after(text, end) : end;
    if (begin > done) {
      out.push_back({-1, done, begin});
    }
    out.push_back({token.id, begin, end});
    done = end;
  }
  if (done < text.size()) {
    out.push_back({-1, done, text.size()});
  }
  return out;
}

}  // namespace gyre::model
