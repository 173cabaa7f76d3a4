// What every kind of tokenizer shares.
#include "gyre/model/tokenizer/tokenizer.h"

#include "gyre/base/files.h"
#include "gyre/model/tokenizer/utf8.h"

#include <utility>

namespace gyre::model {

std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, std::string_view text,
                                   Specials specials) {
  const SpecialIds around = tokenizer.special_ids();
  std::vector<int32_t> ids = tokenizer.encode(text, specials);
  if (around.add_bos && around.bos >= 0) {
    ids.insert(ids.begin(), static_cast<int32_t>(around.bos));
  }
  if (around.add_eos && !around.eos.empty()) {
    ids.push_back(static_cast<int32_t>(around.eos[0]));
  }
  return ids;
}

std::string TextStream::push(int32_t id) {
  held_ += begun_ ? tokenizer_.piece(id) : tokenizer_.decode({id});
  begun_ = true;
  const size_t n = complete_utf8(held_);
  std::string out = held_.substr(0, n);
  held_.erase(0, n);
  return out;
}

std::string TextStream::finish() {
  return std::exchange(held_, {});
}

std::string tokenizer_hash(const Tokenizer& tokenizer) {
  return sha256(tokenizer.serialize());
}

}  // namespace gyre::model
